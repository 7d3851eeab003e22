// PointToPoint from rank to rank, and parts of any sizes to everybody.
#include "collectives/point_to_point.hpp"

#include <fmt/format.h>

#include "support/fakes/scripted_group.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

/// Counts from every rank to every rank, the same on all.
std::vector<std::vector<std::int64_t>> random_counts(std::mt19937& random, int ranks, int most) {
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(ranks));
  for (auto& row : counts) {
    for (int i = 0; i < ranks; ++i) {
      row.push_back(random() % 3 == 0 ? 0
                                      : static_cast<std::int64_t>(random() % static_cast<unsigned>(most)));
    }
  }
  return counts;
}

void check_all_to_all_v(Context& context, std::mt19937& random, int most, const Shape& rest, Memory memory) {
  const auto dtype = static_cast<Dtype>(random() % dtype_count);
  const auto counts = random_counts(random, context.size(), most);
  const auto me = static_cast<std::size_t>(context.rank());
  const std::vector<std::int64_t>& send = counts[me];
  std::vector<std::int64_t> receive;
  for (const auto& row : counts) receive.push_back(row[me]);
  const auto shape = [&](const std::vector<std::int64_t>& parts) {
    Shape result{std::accumulate(parts.begin(), parts.end(), std::int64_t{0})};
    for (const std::int64_t extent : rest) result.push_back(extent);
    return result;
  };
  Block source(context, dtype, shape(send), memory);
  Block destination(context, dtype, shape(receive), memory);
  source.set(of_rank(dtype, context.rank()));
  all_to_all_v(context, source.view(), destination.view(), send, receive);
  const auto expected = [&](Index index) {
    std::size_t sender = 0;
    while (index[0] >= receive[sender]) index[0] -= receive[sender++];
    const auto& row = counts[sender];
    index[0] += std::accumulate(row.begin(), row.begin() + context.rank(), std::int64_t{0});
    return known(dtype, static_cast<int>(sender), index);
  };
  EXPECT_EQ(destination.wrong(expected), 0) << name(dtype) << " " << to_string(shape(receive));
}

RANK_TEST(Collectives, AllToAllV) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  for (const Memory memory : every_memory(context)) {
    for (int round = 0; round < 10; ++round) check_all_to_all_v(context, random, 9, {3}, memory);
    check_all_to_all_v(context, random, 40000, {17}, memory);
    check_all_to_all_v(context, random, 5, {}, memory);
    check_all_to_all_v(context, random, 5, {0, 2}, memory);
  }
}

RANK_TEST(Collectives, AllToAllVComparesCounts) {
  const int ranks = context.size();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 2);
  Block source(context, Dtype::f32, {2 * ranks});
  Block destination(context, Dtype::f32, {2 * ranks});
  std::vector<std::int64_t> other = counts;
  if (context.rank() == ranks - 1) other[0] = 3;
  EXPECT_ERROR(DisagreementError, all_to_all_v(context, source.view(), destination.view(), counts, other),
               fmt::format("rank 0 sends 2 to rank {}, which expects 3", ranks - 1));
  std::vector<std::int64_t> huge(static_cast<std::size_t>(ranks),
                                 std::numeric_limits<std::int64_t>::max() / 2 + 1);
  if (ranks > 1) {
    EXPECT_ERROR(ArgumentError, all_to_all_v(context, source.view(), destination.view(), huge, huge),
                 "more than 2^63 - 1");
  }
  counts[0] = -1;
  EXPECT_ERROR(ArgumentError, all_to_all_v(context, source.view(), destination.view(), counts, counts));
  counts.pop_back();
  EXPECT_ERROR(ArgumentError, all_to_all_v(context, source.view(), destination.view(), counts, counts));
  EXPECT_FALSE(context.failed());
}

RANK_TEST(PointToPoint, RoundTheRing) {
  const int next = (context.rank() + 1) % context.size();
  const int previous = (context.rank() + context.size() - 1) % context.size();
  for (const Dtype dtype : all_dtypes()) {
    for (const Shape& shape : {Shape{7}, Shape{}, Shape{0}, Shape{5, 3}, Shape{70001}}) {
      for (const Memory memory : every_memory(context)) {
        Block sent(context, dtype, shape, memory);
        Block received(context, dtype, shape, memory);
        sent.set(of_rank(dtype, context.rank()));
        send_receive(context, sent.view(), next, received.view(), previous, 5);
        EXPECT_EQ(received.wrong(of_rank(dtype, previous)), 0) << name(dtype) << to_string(shape);
      }
    }
  }
  barrier(context);  // no rank leaves with messages that are still in transfer
}

// The first to be received is the last that was sent, and collectives go on in between.
RANK_TEST(PointToPoint, TagsInAnyOrder) {
  const int last = context.size() - 1;
  std::deque<Block> blocks;
  for (int tag = 0; tag < 5; ++tag) blocks.emplace_back(context, Dtype::i32, Shape{11});
  if (context.rank() == 0) {
    for (int turn = 0; turn < 2; ++turn) {
      for (int tag = 0; tag < 5; ++tag) {
        Block& block = blocks[static_cast<std::size_t>(tag)];
        block.set(of_rank(Dtype::i32, 10 * turn, tag));
        send(context, block.view(), last, tag);
      }
    }
  }
  Block sum(context, Dtype::i32, {3});
  sum.set(of_rank(Dtype::i32, 0));
  all_reduce(context, sum.view(), sum.view(), {.reduction = Reduction::max});
  barrier(context);
  if (context.rank() == last) {
    for (int turn = 0; turn < 2; ++turn) {
      for (int tag = 4; tag >= 0; --tag) {
        Block& block = blocks[static_cast<std::size_t>(tag)];
        receive(context, block.view(), 0, tag);
        EXPECT_EQ(block.wrong(of_rank(Dtype::i32, 10 * turn, tag)), 0) << "tag " << tag << " turn " << turn;
      }
    }
  }
  barrier(context);
}

RANK_TEST(PointToPoint, ToOneself) {
  Block one(context, Dtype::f64, {3}, Memory::strided);
  Block other(context, Dtype::f64, {3});
  one.set(of_rank(Dtype::f64, 3));
  send(context, one.view(), context.rank(), 1);
  receive(context, other.view(), context.rank(), 1);
  EXPECT_EQ(other.wrong(of_rank(Dtype::f64, 3)), 0);
  EXPECT_ERROR(ArgumentError, receive(context, other.view(), context.rank(), 1));
}

RANK_TEST(PointToPoint, AMisfitIsRefusedAndGone) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  Block three(context, Dtype::f32, {3});
  Block four(context, Dtype::f32, {4});
  three.set(of_rank(Dtype::f32, 1));
  if (context.rank() == 0) {
    send(context, three.view(), 1);
    send(context, three.view(), 1);
  }
  if (context.rank() == 1) {
    EXPECT_ERROR(ArgumentError, receive(context, four.view(), 0), "3 elements of f32, but 4 elements of f32");
    receive(context, three.view(), 0);
    EXPECT_EQ(three.wrong(of_rank(Dtype::f32, 1)), 0);
  }
  barrier(context);
  EXPECT_ERROR(ArgumentError, send(context, three.view(), context.size()));
  EXPECT_ERROR(ArgumentError, receive(context, three.view(), -1));
  EXPECT_FALSE(context.failed());
}

// One has left, one not yet, and asking for the third fails: the list must be whole afterwards.
RANK_TEST(PointToPoint, AnErrorOfTheTransportLeavesTheOthersInTheList) {
  ScriptedGroup::Script script;
  int asked_for_second = 0;
  bool first_left = false;
  script.test[0] = [&] { return first_left; };
  script.test[1] = [&] { return ++asked_for_second < 0; };
  script.test[2] = [&]() -> bool { throw Error("test: the cable is cut"); };
  Context alone = alone_by(context, script);
  {
    collective::UnexpectedQueue box;
    const auto post = [&] {
      box.keep(
          std::make_unique<collective::PendingSend>(*alone.state(), 0, collective::MessageHeader{}, nullptr));
    };
    post();
    post();
    first_left = true;
    EXPECT_EQ(caught<Error>(post), "test: the cable is cut");
    EXPECT_EQ(alone.failure(), "test: the cable is cut");
    EXPECT_EQ(asked_for_second, 2);
    script.test.erase(2);
  }
  EXPECT_EQ(asked_for_second, 3);
}

RANK_TEST_WITH(PointToPoint, TheDeadlineEndsAWait, {.deadline = 700ms}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  Block block(context, Dtype::f32, {3});
  const int next = (context.rank() + 1) % context.size();
  try {
    receive(context, block.view(), next);
    ADD_FAILURE() << "a message that nobody sent";
  } catch (const TimeoutError&) {
  } catch (const LostPeerError&) {  // who gave up first
  }
  EXPECT_TRUE(context.failed());
  EXPECT_ERROR(FailedContextError, send(context, block.view(), next));
}

TEST(PointToPoint, AWrongTagIsNamedWithWhatLiesThere) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  ContextOptions options{.deadline = 60s};
  on_ranks(
      [](Context& context) {
        Block three(context, Dtype::f32, {3}), four(context, Dtype::i16, {4});
        if (context.rank() == 0) {
          send(context, three.view(), 1, 7);
          send(context, four.view(), 1, 9);
        }
        context.barrier();
        if (context.rank() != 1) {  // stays until rank 1 has given up
          caught<LostPeerError>([&] { receive(context, four.view(), 1); });
          return;
        }
        context.state()->options.deadline = 200ms;
        EXPECT_ERROR(TimeoutError, receive(context, three.view(), 0, 8),
                     "with tag 8; other messages from it that have arrived: tag 7 (3 elements of f32), "
                     "tag 9 (4 elements of i16)");
      },
      options);
}

// Whose sender is in a call of all ranks, which waits for the receiver: nothing comes from there.
RANK_TEST_WITH(PointToPoint, AMessageThatCannotComeIsFoundOut, {.deadline = 60s}) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  Block block(context, Dtype::f32, {3});
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = caught<DisagreementError>([&] {
    if (context.rank() == 0) receive(context, block.view(), 1);
    context.barrier();
  });
  EXPECT_TRUE(contains(text, "the ranks called different operations: receive on rank 0; barrier on rank"))
      << text;
  EXPECT_TRUE(context.failed());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

// Whose receiver is in a call of all ranks, or in the execution of a plan that is kept.
TEST(PointToPoint, ASendThatNobodyReceivesIsFoundOut) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (test_device().kind != Device::Kind::cpu) GTEST_SKIP() << "of the host";
  for (const bool executes : {false, true}) {
    for (const bool sends : {true, false}) {
      on_ranks(
          [&](Context& context) {
            std::vector<double> large(1 << 20), sum(1);
            const View one = View::dense(sum.data(), Dtype::f64, {1});
            all_reduce(context, one, one);
            const auto begin = std::chrono::steady_clock::now();
            const std::string text = caught<DisagreementError>([&] {
              const View message = View::dense(large.data(), Dtype::f64, {1 << 20});
              if (context.rank() == 0) sends ? send(context, message, 1) : receive(context, message, 1);
              executes ? all_reduce(context, one, one) : context.barrier();
            });
            const std::string calls = std::string(sends ? "send on rank 0; " : "receive on rank 0; ") +
                                      (executes ? "all_reduce on rank" : "barrier on rank");
            EXPECT_TRUE(contains(text, "the ranks called different operations: " + calls)) << text;
            EXPECT_TRUE(context.failed());
            EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
            expect_same_text_on_all(context.rank(), text);
          },
          {.deadline = 60s});
    }
  }
}

// What was sent before comes, however long the receiver takes to ask, and its content to come.
RANK_TEST(PointToPoint, WhoHasSentMayGoOn) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  Block block(context, Dtype::f64, {1 << 20}, Memory::strided);  // packed: no rank waits for the receiver
  if (context.rank() == 1) {
    block.set(of_rank(Dtype::f64, 1));
    send(context, block.view(), 0);
  }
  if (context.rank() == 0) {
    std::this_thread::sleep_for(1200ms);
    receive(context, block.view(), 1);
    EXPECT_EQ(block.wrong(of_rank(Dtype::f64, 1)), 0);
  }
  context.barrier();
}

TEST(PointToPoint, ARingOfSendsIsFoundOut) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  on_ranks(
      [](Context& context) {
        Block large(context, Dtype::f64, {1 << 20}), small(context, Dtype::f64, {100});
        const int next = (context.rank() + 1) % context.size();
        const int previous = (context.rank() + context.size() - 1) % context.size();
        send(context, small.view(), next, 1);  // no rank waits for what is copied
        receive(context, small.view(), previous, 1);
        const std::string text = caught<DisagreementError>([&] { send(context, large.view(), next); });
        EXPECT_TRUE(contains(text, "send to each other in a cycle") && contains(text, "send_receive"))
            << text;
        expect_same_text_on_all(context.rank(), text);
        EXPECT_TRUE(context.failed());
      },
      {.deadline = 60s});
}

// Whose receiver waits for its device, which waits for the sender.
TEST(PointToPoint, ASendToARankWhoseDeviceWaitsIsFoundOut) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  if (test_device().kind == Device::Kind::cpu) GTEST_SKIP() << "of devices";
  for (const std::int64_t elements :
       {1, 1 << 18}) {  // in packets where they suit, and with flags, or by NCCL
    on_ranks(
        [&](Context& context) {
          Block block(context, Dtype::f64, {elements}, Memory::device);
          all_reduce(context, block.view(), block.view());
          std::vector<double> large(1 << 16);
          const auto begin = std::chrono::steady_clock::now();
          const std::string text = caught<DisagreementError>([&] {
            if (context.rank() == 0) send(context, View::dense(large.data(), Dtype::f64, {1 << 16}), 1);
            all_reduce(context, block.view(), block.view());
            context.synchronize();
          });
          EXPECT_TRUE(
              contains(text, "the ranks called different operations: send on rank 0; all_reduce on rank"))
              << text;
          EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
        },
        {.deadline = 60s});
  }
}

/// What a rank of a ring does: sends a large message, or receives.
void wait_in_ring(Context& context, bool sends, std::string_view text) {
  std::vector<double> large(1 << 16);
  const View message = View::dense(large.data(), Dtype::f64, {1 << 16});
  const int next = (context.rank() + 1) % context.size();
  const std::string thrown = caught<DisagreementError>(
      [&] { sends ? send(context, message, next) : receive(context, message, next); });
  EXPECT_TRUE(contains(thrown, text)) << thrown;
}

TEST(PointToPoint, RingsInWhichRanksReceiveAreFoundOut) {
  if (ranks().count == 1) GTEST_SKIP() << "needs several ranks";
  for (const bool some_send : {false, true}) {
    if (some_send && ranks().count == 2) continue;  // they meet
    on_ranks(
        [&](Context& context) {
          wait_in_ring(context, some_send && context.rank() == 0,
                       some_send ? "wait for each other's messages in a cycle" : "none of them sends");
          EXPECT_TRUE(context.failed());
        },
        {.deadline = 60s});
  }
}

// Of many ranks, whose walks cross; the errors name some.
TEST(PointToPoint, ARingOfManyRanksIsFoundOut) {
  if (ranks().kind != GroupKind::threads || ranks().count != 2) GTEST_SKIP() << "with ranks of its own";
  for (const int per_node : {0, 1, 3}) {
    ThreadGroup::run(
        100,
        [](Context& context) { wait_in_ring(context, true, " and 68 more send to each other in a cycle"); },
        {.deadline = 60s, .ranks_per_node = per_node});
  }
}

// Whose receiver is in a call of all ranks.
TEST(PointToPoint, ASendOfManyRanksThatNobodyReceivesIsFoundOut) {
  if (ranks().kind != GroupKind::threads || ranks().count != 2) GTEST_SKIP() << "with ranks of its own";
  ThreadGroup::run(100,
                   [](Context& context) {
                     std::vector<double> large(1 << 16);
                     const std::string text = caught<DisagreementError>([&] {
                       if (context.rank() == 0)
                         send(context, View::dense(large.data(), Dtype::f64, {1 << 16}), 99);
                       context.barrier();
                     });
                     EXPECT_TRUE(contains(text, "the ranks called different operations: ")) << text;
                     EXPECT_TRUE(contains(text, "send on rank 0; barrier on rank")) << text;
                   },
                   {.deadline = 60s, .ranks_per_node = 1});
}

// Many who wait for slow receivers are no ring.
RANK_TEST(PointToPoint, AChainOfSendsIsNone) {
  Block large(context, Dtype::f64, {1 << 18});
  for (int turn = 0; turn < 3; ++turn) {
    if (context.rank() > 0) receive(context, large.view(), context.rank() - 1);
    if (context.rank() == 0) std::this_thread::sleep_for(100ms);
    if (context.rank() + 1 < context.size()) send(context, large.view(), context.rank() + 1);
  }
  barrier(context);
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
