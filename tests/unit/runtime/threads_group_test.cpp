#include "runtime/groups/threads_group.hpp"

#include "runtime/groups/message_table.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

TEST(MessageTable, UsesFreeNumbersAgain) {
  runtime::MessageTable<std::vector<int>> table;
  const runtime::MessageId first = table.add();
  const runtime::MessageId second = table.add();
  EXPECT_NE(first, second);
  std::vector<int>* place = &table.at(first);
  for (int i = 0; i < 1000; ++i) EXPECT_GE(table.add(), 2);
  EXPECT_EQ(&table.at(first), place) << "slots must not move";
  table.remove(first);
  EXPECT_EQ(table.in_flight(), 1001U);
  EXPECT_EQ(table.add(), first);
}

TEST(MessageTable, RefusesNumbersThatAreNotInFlight) {
  runtime::MessageTable<int> table;
  EXPECT_THROW(table.at(0), Error);
  EXPECT_THROW(table.at(-1), Error);
  const runtime::MessageId number = table.add();
  table.remove(number);
  EXPECT_THROW(table.at(number), Error);
  EXPECT_THROW(table.remove(number), Error);
}

/// The groups of all ranks, used by one thread: nothing in them blocks.
std::vector<std::unique_ptr<runtime::ProcessGroup>> all_ranks(
    const std::shared_ptr<runtime::ThreadsShared>& shared) {
  std::vector<std::unique_ptr<runtime::ProcessGroup>> groups;
  for (int rank = 0; rank < shared->ranks(); ++rank)
    groups.push_back(runtime::make_threads_group(shared, rank, 0));
  return groups;
}

TEST(ThreadsGroup, SuccessiveGroupsDoNotMix) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  // The ranks make their groups in different order of time, as with a duplicated communicator.
  auto first_of_0 = runtime::make_threads_group(shared, 0, 0);
  auto second_of_0 = runtime::make_threads_group(shared, 0, 0);
  auto first_of_1 = runtime::make_threads_group(shared, 1, 0);
  auto second_of_1 = runtime::make_threads_group(shared, 1, 0);
  int one = 1, two = 2, in = 0;
  const runtime::MessageId send_second = second_of_0->send(1, runtime::Lane::data, &two, sizeof(two));
  const runtime::MessageId send_first = first_of_0->send(1, runtime::Lane::data, &one, sizeof(one));
  EXPECT_TRUE(first_of_1->test(first_of_1->receive(0, runtime::Lane::data, &in, sizeof(in))));
  EXPECT_EQ(in, 1);
  EXPECT_TRUE(first_of_0->test(send_first));
  EXPECT_FALSE(second_of_0->test(send_second));
  EXPECT_TRUE(second_of_1->test(second_of_1->receive(0, runtime::Lane::data, &in, sizeof(in))));
  EXPECT_EQ(in, 2);
}

TEST(ThreadsGroup, TellsWhoHasLeft) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(3);
  auto groups = all_ranks(shared);
  const auto pair = groups[0]->subgroup({2, 0}, 1);
  auto other_of_pair = groups[2]->subgroup({2, 0}, 1);
  groups[2].reset();
  EXPECT_EQ(groups[0]->lost(2), "") << "on the first look, what it sent may have come since";
  EXPECT_EQ(groups[0]->lost(2), "rank 2 (thread) has ended");
  EXPECT_EQ(groups[0]->lost(1), "");
  pair->lost(0);
  EXPECT_EQ(pair->lost(0), "") << "it still takes part in the sub-group";
  other_of_pair.reset();
  pair->lost(0);
  EXPECT_EQ(pair->lost(0), "rank 0 (thread) has ended");
}

TEST(ThreadsGroup, AMemberThatLeavesEarlyIsKnownToThoseWhoComeLater) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  runtime::make_threads_group(shared, 0, 0).reset();
  const auto late = runtime::make_threads_group(shared, 1, 0);
  late->lost(0);
  EXPECT_EQ(late->lost(0), "rank 0 (thread) has ended");
}

TEST(ThreadsGroup, TellsWhyARankEnded) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  const auto groups = all_ranks(shared);
  shared->end(1, "no memory left");
  shared->end(1, "later");
  groups[0]->lost(1);
  EXPECT_EQ(groups[0]->lost(1), "rank 1 (thread) has ended: no memory left");
}

TEST(ThreadsGroup, MessagesOfAMemberThatLeftAreTakenBack) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  auto groups = all_ranks(shared);
  {
    std::array<char, 8> gone{};
    groups[0]->send(1, runtime::Lane::data, gone.data(), 8);
    groups[0]->receive(1, runtime::Lane::data, gone.data(), 8);
    groups[0].reset();
  }
  std::array<char, 8> in{};
  const runtime::MessageId receive = groups[1]->receive(0, runtime::Lane::data, in.data(), 8);
  const runtime::MessageId send = groups[1]->send(0, runtime::Lane::data, in.data(), 8);
  EXPECT_FALSE(groups[1]->test(receive));
  EXPECT_FALSE(groups[1]->test(send));
}

TEST(ThreadsGroup, TakesBackFromTheMiddle) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  const auto groups = all_ranks(shared);
  std::array<int, 3> out{1, 2, 3}, in{};
  const runtime::MessageId given_up = groups[0]->send(1, runtime::Lane::data, &out[0], sizeof(int));
  groups[0]->abandon();
  EXPECT_THROW(groups[0]->test(given_up), Error);
  const runtime::MessageId second = groups[0]->send(1, runtime::Lane::data, &out[1], sizeof(int));
  const runtime::MessageId third = groups[0]->send(1, runtime::Lane::data, &out[2], sizeof(int));
  EXPECT_TRUE(groups[1]->test(groups[1]->receive(0, runtime::Lane::data, &in[0], sizeof(int))));
  EXPECT_TRUE(groups[1]->test(groups[1]->receive(0, runtime::Lane::data, &in[1], sizeof(int))));
  EXPECT_TRUE(groups[0]->test(third));
  EXPECT_TRUE(groups[0]->test(second));
  EXPECT_EQ(in[0], 2);
  EXPECT_EQ(in[1], 3);
  groups[1]->lost(0);
  EXPECT_EQ(groups[1]->lost(0), "rank 0 (thread) has failed");
}

TEST(ThreadsGroup, BothSidesHearOfSizesThatDiffer) {
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  const auto groups = all_ranks(shared);
  std::array<char, 16> bytes{};
  const runtime::MessageId receive = groups[1]->receive(0, runtime::Lane::control, bytes.data(), 16);
  const runtime::MessageId send = groups[0]->send(1, runtime::Lane::control, bytes.data(), 8);
  for (const auto& [group, message] : {std::pair(1, receive), std::pair(0, send)}) {
    runtime::ProcessGroup& one = *groups[static_cast<std::size_t>(group)];
    EXPECT_EQ(caught<DisagreementError>([&, message = message] { one.test(message); }),
              "a message of 8 bytes from rank 0 does not match a receive of 16 bytes at rank 1");
  }
}

TEST(ThreadsGroup, RefusesBadPlaces) {
  EXPECT_THROW(runtime::ThreadsShared(0), ArgumentError);
  const auto shared = std::make_shared<runtime::ThreadsShared>(2);
  EXPECT_THROW(runtime::make_threads_group(shared, 2, 0), ArgumentError);
  EXPECT_THROW(runtime::make_threads_group(shared, -1, 0), ArgumentError);
  EXPECT_THROW(runtime::make_threads_group(shared, 0, -1), ArgumentError);
  EXPECT_THROW(runtime::make_threads_group(Communicator{}, 0), ArgumentError);
}

TEST(ThreadGroup, RefusesBadPlaces) {
  EXPECT_THROW(ThreadGroup(0), ArgumentError);
  EXPECT_THROW(ThreadGroup(2).member(2), ArgumentError);
  EXPECT_THROW(ThreadGroup::run(0, [](Context&) {}), ArgumentError);
}

TEST(ThreadGroup, RunsTheBodyOnEveryRank) {
  std::array<int, 3> sizes{};
  ThreadGroup::run(3, [&sizes](Context& context) {
    sizes[static_cast<std::size_t>(context.rank())] = context.size();
    context.barrier();
  });
  EXPECT_EQ(sizes, (std::array{3, 3, 3}));
}

TEST(ThreadGroup, ThrowsWhatTheLowestRankThrew) {
  const auto body = [](Context& context) {
    if (context.rank() == 1) throw MemoryError("one");
    if (context.rank() == 2) throw FileError("two");
  };
  EXPECT_THROW(ThreadGroup::run(3, body), MemoryError);
}

TEST(ThreadGroup, NobodyWaitsForARankThatThrew) {
  for (const int ranks_per_node : {0, 1}) {
    const auto start = std::chrono::steady_clock::now();
    std::array<std::string, 3> heard;
    const auto body = [&heard](Context& context) {
      if (context.rank() == 2) throw FileError("the disk is full");
      try {
        context.barrier();
      } catch (const Error& error) {
        heard[static_cast<std::size_t>(context.rank())] = error.what();
        throw;
      }
    };
    EXPECT_THROW(ThreadGroup::run(3, body, {.ranks_per_node = ranks_per_node}), Error);
    for (const int rank : {0, 1}) {
      const std::string& text = heard[static_cast<std::size_t>(rank)];
      EXPECT_NE(text, "") << "rank " << rank << " came through";
    }
    EXPECT_TRUE(contains((heard[0] + heard[1]), "the disk is full")) << heard[0] << " / " << heard[1];
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60))
        << "the deadline is five minutes";
  }
}

TEST(ThreadGroup, NobodyWaitsForARankThatReturned) {
  const auto body = [](Context& context) {
    if (context.rank() != 1) context.barrier();
  };
  EXPECT_ERROR(LostPeerError, ThreadGroup::run(2, body, {.ranks_per_node = 1}),
               "rank 1 has left its context without closing it");
}

}  // namespace
}  // namespace partita
