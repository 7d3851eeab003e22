#include "runtime/board/node_board.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

// Zeroed memory on a cache line, as NodeMemory::control gives it.
class Memory {
 public:
  explicit Memory(int ranks) : bytes_(static_cast<std::size_t>(runtime::NodeBoard::bytes(ranks))) {
    memory_ = ::operator new(bytes_, std::align_val_t(64));
    std::memset(memory_, 0, bytes_);
  }
  ~Memory() { ::operator delete(memory_, std::align_val_t(64)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* get() const { return memory_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(NodeBoard, CountsSignalsByPairAndChannel) {
  for (const int ranks : {1, 2, 3, 7}) {
    const Memory memory(ranks);
    std::vector<runtime::NodeBoard> boards;
    for (int rank = 0; rank < ranks; ++rank) boards.emplace_back(memory.get(), ranks, rank);
    std::vector<std::uint64_t> model(static_cast<std::size_t>(ranks * ranks * runtime::NodeBoard::channels));
    const auto count = [&](int from, int to, int channel) -> std::uint64_t& {
      const int place = (from * ranks + to) * runtime::NodeBoard::channels + channel;
      return model[static_cast<std::size_t>(place)];
    };
    std::mt19937 random(17);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    for (int i = 0; i < 1000; ++i) {
      const int from = below(ranks), to = below(ranks), channel = below(runtime::NodeBoard::channels);
      boards[static_cast<std::size_t>(from)].signal(to, channel);
      ++count(from, to, channel);
    }
    for (int i = 0; i < static_cast<int>(model.size()); ++i) {
      const int channel = i % runtime::NodeBoard::channels, to = i / runtime::NodeBoard::channels % ranks;
      const int from = i / runtime::NodeBoard::channels / ranks;
      EXPECT_EQ(boards[static_cast<std::size_t>(to)].counter(from, channel), count(from, to, channel));
    }
  }
}

TEST(NodeBoard, ShowsWhereBuffersLie) {
  const Memory memory(2);
  runtime::NodeBoard mine(memory.get(), 2, 0), theirs(memory.get(), 2, 1);
  mine.lend(0, 7);
  mine.lend(runtime::NodeBoard::most_lent - 1, 9);
  theirs.lend(0, 8);
  EXPECT_EQ(theirs.lent(0, 0), 7U);
  EXPECT_EQ(theirs.lent(0, runtime::NodeBoard::most_lent - 1), 9U);
  EXPECT_EQ(mine.lent(1, 0), 8U);
}

TEST(NodeBoard, ShowsWhoHasLeft) {
  const Memory memory(2);
  runtime::NodeBoard mine(memory.get(), 2, 0), theirs(memory.get(), 2, 1);
  EXPECT_FALSE(mine.status(1).left);
  theirs.leave();
  EXPECT_TRUE(mine.status(1).left);
  EXPECT_FALSE(mine.status(1).failed);
  EXPECT_EQ(mine.departure(1), "") << "in good order";
  EXPECT_FALSE(theirs.status(0).left);
  mine.leave("has left by an exception");
  EXPECT_TRUE(theirs.status(0).left);
  EXPECT_EQ(theirs.departure(0), "has left by an exception");
  mine.leave();
  EXPECT_EQ(theirs.departure(0), "has left by an exception") << "the first word counts";
}

TEST(NodeBoard, ShowsWhatANeighbourIsDoing) {
  const Memory memory(2);
  runtime::NodeBoard mine(memory.get(), 2, 0), theirs(memory.get(), 2, 1);
  EXPECT_EQ(mine.status(1), runtime::NodeBoard::Status());
  theirs.begin_agreement("barrier");
  EXPECT_TRUE(mine.status(1).in_agreement);
  EXPECT_EQ(mine.status(1).agreements, 1U);
  EXPECT_EQ(mine.operation(1), "barrier");
  theirs.end_agreement();
  EXPECT_FALSE(mine.status(1).in_agreement);
  EXPECT_EQ(mine.status(1).agreements, 1U);
  theirs.begin_execution(4711, "redistribute");
  EXPECT_EQ(mine.status(1).executions, 1U);
  EXPECT_EQ(mine.executions(1).number(), 1U);
  EXPECT_EQ(mine.executions(1).operation(1), "redistribute");
  EXPECT_EQ(mine.operation(1), "barrier");
  EXPECT_EQ(mine.status(0), runtime::NodeBoard::Status());
}

TEST(NodeBoard, NumbersCapturesApartFromExecutions) {
  const Memory memory(2);
  runtime::NodeBoard mine(memory.get(), 2, 0), theirs(memory.get(), 2, 1);
  const std::uint64_t chain = theirs.begin_execution(4711, "scan");
  EXPECT_EQ(theirs.begin_capture(4711, "scan"), chain);
  EXPECT_EQ(mine.executions(1).chain(1), chain);
  EXPECT_EQ(mine.captures(1).chain(1), chain);
  theirs.begin_capture(4712, "scan");
  EXPECT_EQ(mine.executions(1).number(), 1U);
  EXPECT_EQ(mine.captures(1).number(), 2U);
}

TEST(NodeBoard, KeepsTheFirstFailureAndCutsLongTexts) {
  const Memory memory(2);
  runtime::NodeBoard mine(memory.get(), 2, 0), theirs(memory.get(), 2, 1);
  EXPECT_FALSE(mine.status(1).failed);
  theirs.fail({runtime::ErrorKind::timeout, std::string(2000, 'x')});
  theirs.fail({runtime::ErrorKind::disagreement, "later"});
  EXPECT_TRUE(mine.status(1).failed);
  const runtime::CaughtError failure = mine.failure(1);
  EXPECT_EQ(failure.kind, runtime::ErrorKind::timeout);
  EXPECT_EQ(failure.text, std::string(failure.text.size(), 'x'));
  EXPECT_GE(failure.text.size(), 400U);
}

// A signal publishes what was written before it (ThreadSanitizer checks this test).
TEST(NodeBoard, ASignalReleasesWhatWasWrittenBefore) {
  const Memory memory(2);
  std::vector<int> data(1, 0);
  constexpr int rounds = 200;
  std::thread writer([&] {
    runtime::NodeBoard board(memory.get(), 2, 0);
    for (int round = 1; round <= rounds; ++round) {
      data[0] = round;
      board.signal(1, 2);
      while (board.counter(1, 3) < static_cast<std::uint64_t>(round)) std::this_thread::yield();
    }
  });
  runtime::NodeBoard board(memory.get(), 2, 1);
  for (int round = 1; round <= rounds; ++round) {
    while (board.counter(0, 2) < static_cast<std::uint64_t>(round)) std::this_thread::yield();
    EXPECT_EQ(data[0], round);
    board.signal(0, 3);
  }
  writer.join();
}

// The fields of a status belong together although they are written one by one.
TEST(NodeBoard, AStatusIsOfOneMoment) {
  const Memory memory(2);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    runtime::NodeBoard board(memory.get(), 2, 0);
    for (int round = 0; round < 3000; ++round) {
      board.begin_execution(7);
      board.begin_agreement("check");
      board.end_agreement();
      std::this_thread::yield();
    }
    done = true;
  });
  const runtime::NodeBoard board(memory.get(), 2, 1);
  while (!done) {
    const runtime::NodeBoard::Status status = board.status(0);
    EXPECT_LE(status.agreements, status.executions);
    EXPECT_LE(status.executions, status.agreements + 1);
    std::this_thread::yield();  // so that the writer need not wait for a time slice in each round
  }
  writer.join();
}

TEST(NodeBoard, ShowsMeetingsOfSome) {
  const Memory memory(2);
  runtime::NodeBoard one(memory.get(), 2, 0), other(memory.get(), 2, 1);
  EXPECT_EQ(other.rendezvous(0), "");
  one.enter_rendezvous("subgroup of ranks 0,1");
  EXPECT_EQ(other.rendezvous(0), "subgroup of ranks 0,1");
  one.leave_rendezvous();
  EXPECT_EQ(other.rendezvous(0), "");
}

TEST(NodeBoard, ShowsLongWaits) {
  const Memory memory(2);
  runtime::NodeBoard one(memory.get(), 2, 0), other(memory.get(), 2, 1);
  EXPECT_EQ(other.long_wait(0).number, 0U);
  runtime::NodeBoard::LongWait wait;
  wait.context = 4711;
  wait.rank = 5;
  wait.awaited[1] = 2;
  wait.operation = "barrier";
  one.begin_long_wait(wait);
  const auto first = other.long_wait(0);
  EXPECT_EQ(first.context, 4711U);
  EXPECT_EQ(first.rank, 5);
  EXPECT_EQ(first.operation, "barrier");
  EXPECT_TRUE(first.waits_for(65));
  for (const int rank : {-1, 0, 64, 66, 100000}) EXPECT_FALSE(first.waits_for(rank)) << rank;
  one.begin_long_wait(wait);
  EXPECT_NE(other.long_wait(0).number, first.number);
  one.end_long_wait();
  one.end_long_wait();
  EXPECT_EQ(other.long_wait(0).number, 0U);
}

TEST(NodeBoard, OneRankFindsTheVerdict) {
  const Memory memory(2);
  runtime::NodeBoard one(memory.get(), 2, 0), other(memory.get(), 2, 1);
  EXPECT_EQ(one.verdict_of(), std::nullopt);
  EXPECT_TRUE(other.claim_verdict());
  EXPECT_FALSE(one.claim_verdict());
  EXPECT_FALSE(other.claim_verdict());
  EXPECT_EQ(one.verdict_of(), 1);
  EXPECT_EQ(one.question(), 0U);
  other.ask(17);
  EXPECT_EQ(one.question(), 17U);
  EXPECT_EQ(other.answer_of(0), std::nullopt);
  one.answer("a sum");
  one.answer("another one");
  EXPECT_EQ(other.answer_of(0), "a sum");
}

}  // namespace
}  // namespace partita
