// Processes that are connected by sockets, here all in one process: their connections, and the messages on
// them.
#include <fcntl.h>
#include <sys/socket.h>

#include "runtime/groups/sockets_channels.hpp"
#include "runtime/groups/sockets_group.hpp"
#include "runtime/groups/sockets_launch.hpp"
#include "runtime/groups/sockets_links.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using runtime::Lane;
using runtime::MessageId;
using runtime::SocketsLinks;
using Bytes = std::vector<unsigned char>;

constexpr std::chrono::seconds deadline{20};

struct Pair {
  FileDescriptor one, other;
};

Pair socket_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The links of all ranks of a job.
std::vector<std::shared_ptr<SocketsLinks>> job(int ranks) {
  std::vector<std::vector<FileDescriptor>> sockets(static_cast<std::size_t>(ranks));
  for (auto& of_rank : sockets) of_rank.resize(static_cast<std::size_t>(ranks));
  for (std::size_t a = 0; a < sockets.size(); ++a) {
    for (std::size_t b = a + 1; b < sockets.size(); ++b) {
      Pair pair = socket_pair();
      sockets[a][b] = std::move(pair.one);
      sockets[b][a] = std::move(pair.other);
    }
  }
  std::vector<std::shared_ptr<SocketsLinks>> links;
  for (int rank = 0; rank < ranks; ++rank)
    links.push_back(std::make_shared<SocketsLinks>(rank, std::move(sockets[static_cast<std::size_t>(rank)])));
  return links;
}

using Body = std::function<void(runtime::ProcessGroup&)>;

/// Runs the body with a group of each rank, on a thread each.
void on_group(int ranks, const Body& body, int ranks_per_node = 0) {
  std::vector<std::thread> threads;
  for (const auto& links : job(ranks)) {
    threads.emplace_back([links, &body, ranks_per_node] {
      try {
        body(*runtime::make_sockets_group(links, ranks_per_node, deadline));
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void finish(runtime::ProcessGroup& group, const std::vector<MessageId>& messages) {
  const auto latest = std::chrono::steady_clock::now() + deadline;
  for (const MessageId message : messages) {
    while (!group.test(message)) {
      ASSERT_LT(std::chrono::steady_clock::now(), latest) << "a message does not complete";
      std::this_thread::yield();
    }
  }
}

Bytes pattern(std::size_t bytes, int seed) {
  Bytes result(bytes);
  unsigned state = static_cast<unsigned>(seed) + 1;
  for (unsigned char& byte : result)
    byte = static_cast<unsigned char>((state = state * 1664525U + 1013904223U) >> 24U);
  return result;
}

void barrier(runtime::ProcessGroup& group) {
  char out = 1;
  std::vector<char> in(static_cast<std::size_t>(group.size()));
  std::vector<MessageId> messages;
  for (int peer = 0; peer < group.size(); ++peer) {
    messages.push_back(group.send(peer, Lane::control, &out, 1));
    messages.push_back(group.receive(peer, Lane::control, &in[static_cast<std::size_t>(peer)], 1));
  }
  finish(group, messages);
}

TEST(Sockets, AllSizesFromAllToAll) {
  on_group(3, [](runtime::ProcessGroup& group) {
    const std::vector<std::size_t> sizes{0, 1, 16384, 16385, 262144, 262145, 3000001};
    std::vector<Bytes> out, in;
    out.reserve(100), in.reserve(100);
    std::vector<MessageId> messages;
    for (int peer = 0; peer < 3; ++peer) {
      for (const std::size_t size : sizes) {
        const auto bytes = static_cast<std::int64_t>(size);
        out.push_back(pattern(size, group.rank() * 3 + peer));
        messages.push_back(group.send(peer, Lane::data, out.back().data(), bytes));
        in.emplace_back(size);
        messages.push_back(group.receive(peer, Lane::data, in.back().data(), bytes));
      }
    }
    finish(group, messages);
    EXPECT_EQ(group.in_flight(), 0U);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const int peer = static_cast<int>(i / sizes.size());
      EXPECT_EQ(in[i], pattern(in[i].size(), peer * 3 + group.rank())) << i;
    }
  });
}

TEST(Sockets, NoLaneWaitsForALargeMessageThatNobodyTakes) {
  on_group(2, [](runtime::ProcessGroup& group) {
    Bytes large(4000000), small(10);
    std::vector<MessageId> taken_late;
    if (group.rank() == 0) taken_late.push_back(group.send(1, Lane::data, large.data(), 4000000));
    for (int turn = 0; turn < 50; ++turn) {
      const int peer = 1 - group.rank();
      const MessageId out = group.send(peer, Lane::point_to_point, small.data(), 10);
      finish(group, {out, group.receive(peer, Lane::point_to_point, small.data(), 10)});
    }
    if (group.rank() == 0) {
      EXPECT_FALSE(group.test(taken_late.front()));
    }
    barrier(group);
    if (group.rank() == 1) taken_late.push_back(group.receive(0, Lane::data, large.data(), 4000000));
    finish(group, taken_late);
  });
}

TEST(Sockets, MoreShortMessagesThanTheKernelTakes) {
  on_group(2, [](runtime::ProcessGroup& group) {
    constexpr int count = 400;  // of 16 KiB
    std::vector<Bytes> buffers;
    std::vector<MessageId> messages;
    for (int i = 0; i < count; ++i) {
      buffers.push_back(group.rank() == 0 ? pattern(16384, i) : Bytes(16384));
      Bytes& buffer = buffers.back();
      messages.push_back(group.rank() == 0 ? group.send(1, Lane::data, buffer.data(), 16384)
                                           : group.receive(0, Lane::data, buffer.data(), 16384));
    }
    finish(group, messages);
    for (int i = 0; i < count; ++i) EXPECT_EQ(buffers[static_cast<std::size_t>(i)], pattern(16384, i)) << i;
  });
}

TEST(Sockets, BothSidesHearOfALargeMessageThatDoesNotFit) {
  on_group(2, [](runtime::ProcessGroup& group) {
    Bytes buffer(200000);
    const MessageId message = group.rank() == 0 ? group.send(1, Lane::data, buffer.data(), 100000)
                                                : group.receive(0, Lane::data, buffer.data(), 200000);
    EXPECT_EQ(caught<DisagreementError>([&] { finish(group, {message}); }),
              "a message of 100000 bytes from rank 0 does not match a receive of 200000 bytes at rank 1");
    barrier(group);
  });
}

TEST(Sockets, WhatIsGivenUpInTheMiddleIsNeitherReadNorWritten) {
  on_group(2, [](runtime::ProcessGroup& group) {
    std::vector<int> both{0, 1};
    const auto given_up = group.subgroup(both, 1);
    auto large = std::make_unique<Bytes>(50000000, 1);
    const auto bytes = static_cast<std::int64_t>(large->size());
    const MessageId message = group.rank() == 0 ? given_up->send(1, Lane::data, large->data(), bytes)
                                                : given_up->receive(0, Lane::data, large->data(), bytes);
    for (int turn = 0; turn < 20; ++turn) group.progress();
    given_up->abandon();
    large.reset();
    EXPECT_THROW(given_up->test(message), Error);
    for (int turn = 0; turn < 10; ++turn) barrier(group);
  });
}

TEST(Sockets, ShortMessagesArriveThoughTheirSenderHasLeft) {
  constexpr int count = 400;  // more than the kernel takes
  const auto links = job(2);
  std::thread sender([&links] {
    auto group = runtime::make_sockets_group(links[0], 0, deadline);
    for (int i = 0; i < count; ++i) {
      const Bytes out = pattern(16384, i);
      static_cast<void>(group->send(1, Lane::data, out.data(), 16384));
      group->abandon();
    }
    group.reset();
    links[0]->flush(deadline);
  });
  const auto group = runtime::make_sockets_group(links[1], 0, deadline);
  for (int i = 0; i < count; ++i) {
    Bytes in(16384);
    finish(*group, {group->receive(0, Lane::data, in.data(), 16384)});
    EXPECT_EQ(in, pattern(16384, i)) << i;
  }
  sender.join();
}

TEST(Sockets, SubgroupsAndLaterGroupsDoNotMix) {
  const auto links = job(2);
  std::vector<std::thread> threads;
  for (const auto& mine : links) {
    threads.emplace_back([mine] {
      const auto first = runtime::make_sockets_group(mine, 0, deadline);
      const auto second = runtime::make_sockets_group(mine, 0, deadline);
      const std::vector<int> turned{1, 0};
      const auto below = second->subgroup(turned, 3);
      EXPECT_EQ(below->rank(), 1 - first->rank());
      int out[3] = {1, 2, 3}, in[3] = {};
      const int peer = 1 - first->rank();
      std::vector<MessageId> ids{first->send(peer, Lane::data, &out[0], 4),
                                 second->send(peer, Lane::data, &out[1], 4),
                                 below->send(1 - below->rank(), Lane::data, &out[2], 4)};
      finish(*below, {ids[2], below->receive(1 - below->rank(), Lane::data, &in[2], 4)});
      finish(*second, {ids[1], second->receive(peer, Lane::data, &in[1], 4)});
      finish(*first, {ids[0], first->receive(peer, Lane::data, &in[0], 4)});
      for (int i = 0; i < 3; ++i) EXPECT_EQ(in[i], out[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Sockets, FarewellsGoToTheContextThatTheyName) {
  constexpr int ranks_per_node = 1;  // those of a node read its board
  on_group(
      3,
      [](runtime::ProcessGroup& group) {
        group.say_farewell({7, group.rank(), true, {runtime::ErrorKind::timeout, "tired"}});
        barrier(group);
        EXPECT_TRUE(group.farewells(8).empty());
        const std::vector<runtime::Farewell> heard = group.farewells(7);
        ASSERT_EQ(heard.size(), 2U);
        EXPECT_NE(heard[0].rank, group.rank());
        EXPECT_TRUE(heard[0].failed);
        EXPECT_EQ(heard[0].why.text, "tired");
      },
      ranks_per_node);
}

TEST(Sockets, ANoteGoesToOneRankAndIsTakenOnce) {
  on_group(3, [](runtime::ProcessGroup& group) {
    const std::vector<std::string> texts{"first", std::string(runtime::longest_farewell, 'x'),
                                         std::string("\0", 1)};
    if (group.rank() == 0) {
      for (const std::string& text : texts) group.tell(2, {7, 0, text});
      group.tell(2, {8, 0, "of another context"});
    }
    barrier(group);
    const std::vector<runtime::Note> notes = group.take_notes(7);
    ASSERT_EQ(notes.size(), group.rank() == 2 ? texts.size() : 0U);
    for (std::size_t i = 0; i < notes.size(); ++i) {
      EXPECT_EQ(notes[i].rank, 0);
      EXPECT_EQ(notes[i].text, texts[i]);
    }
    EXPECT_TRUE(group.take_notes(7).empty());
    EXPECT_EQ(group.take_notes(8).size(), group.rank() == 2 ? 1U : 0U);
    EXPECT_TRUE(group.farewells(7).empty());
  });
}

TEST(Sockets, ARankThatEndsBeforeItInitialisesIsLost) {
  auto links = job(2);
  links[1].reset();
  EXPECT_THROW(runtime::make_sockets_group(links[0], 0, deadline), LostPeerError);
}

TEST(Sockets, ARankThatDoesNotComeIsATimeout) {
  const auto links = job(2);
  EXPECT_THROW(runtime::make_sockets_group(links[0], 0, std::chrono::milliseconds(50)), TimeoutError);
}

TEST(Sockets, OtherRanksPerNodeAreADisagreement) {
  std::vector<std::thread> threads;
  for (const auto& links : job(2)) {
    threads.emplace_back([links] {
      EXPECT_THROW(runtime::make_sockets_group(links, links->rank(), deadline), DisagreementError);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Sockets, WhatNoPartitaSendsIsAnError) {
  Pair pair = socket_pair();
  std::vector<FileDescriptor> sockets(2);
  sockets[1] = std::move(pair.one);
  SocketsLinks links(0, std::move(sockets));
  const std::string words(100, 'x');
  ASSERT_EQ(::send(pair.other.get(), words.data(), words.size(), 0), 100);
  EXPECT_THROW(links.progress(), Error);
}

std::vector<FileDescriptor> with_one(FileDescriptor other, std::size_t place) {
  std::vector<FileDescriptor> all(2);
  all[place] = std::move(other);
  return all;
}

FileDescriptor copy_of(const FileDescriptor& descriptor) {
  return FileDescriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
}

TEST(Sockets, EachProgramOfARankHasConnectionsOfItsOwn) {
  const Pair channel = socket_pair();
  // Rank 0 has ended two programs before rank 1 comes: the first waited in vain, the second is still there.
  { const runtime::SocketsChannels first(0, with_one(copy_of(channel.one), 1)); }
  runtime::SocketsChannels low(0, with_one(copy_of(channel.one), 1));
  runtime::SocketsChannels next(0, with_one(copy_of(channel.one), 1));
  runtime::SocketsChannels high(1, with_one(copy_of(channel.other), 0));
  const FileDescriptor there = std::move(low.connect(deadline)[1]),
                       here = std::move(high.connect(deadline)[0]);
  ASSERT_EQ(::send(there.get(), "a", 1, 0), 1);
  char byte = 0;
  ASSERT_EQ(::recv(here.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'a');
  // What the next program of rank 0 has sent is still in the channel, for that of rank 1.
  runtime::SocketsChannels high_next(1, with_one(copy_of(channel.other), 0));
  const FileDescriptor from_next = std::move(next.connect(deadline)[1]);
  const FileDescriptor to_next = std::move(high_next.connect(deadline)[0]);
  ASSERT_EQ(::send(to_next.get(), "b", 1, 0), 1);
  ASSERT_EQ(::recv(from_next.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'b');
}

TEST(Sockets, AProgramWhoseRankDoesNotStartOneIsNotConnected) {
  Pair channel = socket_pair();
  runtime::SocketsChannels high(1, with_one(copy_of(channel.other), 0));
  EXPECT_THROW(high.connect(std::chrono::milliseconds(30)), TimeoutError);
  const runtime::SocketsChannels low(0, with_one(copy_of(channel.one), 1));
  EXPECT_TRUE(static_cast<bool>(high.connect(deadline)[0]));  // it is asked again
  runtime::SocketsChannels alone(1, with_one(copy_of(channel.other), 0));
  channel.one.reset();
  EXPECT_THROW(alone.connect(deadline), LostPeerError);
  channel.other.reset();
}

TEST(Sockets, TheLaunchersVariableIsRead) {
  const runtime::HandedSockets handed = runtime::parse_sockets("1:5,-,7");
  EXPECT_EQ(handed.rank, 1);
  EXPECT_EQ(handed.descriptors, (std::vector<int>{5, -1, 7}));
  EXPECT_FALSE(handed.are_channels);
  EXPECT_EQ(runtime::parse_sockets("0:-").descriptors, std::vector<int>{-1});
  const runtime::HandedSockets channels = runtime::parse_sockets("channels 1:5,-,7");
  EXPECT_TRUE(channels.are_channels);
  EXPECT_EQ(channels.descriptors, handed.descriptors);
  for (const char* text :
       {"", ":", "1", "a:-", "0:", "0:5", "1:5", "1:-,5", "0:-,x", "0:-,5,", "0:-,-1", "-1:5"})
    EXPECT_THROW(runtime::parse_sockets(text), ArgumentError) << text;
}

TEST(Sockets, ADescriptorThatIsNoConnectionIsRefused) {
  const FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string value = "0:-," + std::to_string(file.get());
  const testing::Setting variable("PARTITA_SOCKETS", value);
  EXPECT_TRUE(runtime::has_sockets());
  EXPECT_THROW(runtime::make_sockets_group(0, deadline), ArgumentError);
}

}  // namespace
}  // namespace partita
