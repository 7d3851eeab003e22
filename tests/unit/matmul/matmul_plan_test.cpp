// Plans of multiplies: what they compute, what they need, and how they are made.
#include "execute/message_use.hpp"
#include "plan/channels.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "support/models/matmul_numbers.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using namespace testing::matmul_numbers;
using testing::MatmulCase;
using testing::RandomLayouts;
using testing::square;

TEST(MatmulPlan, MultipliesWhateverTheDistributionsAre) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const MatmulCase test = RandomMatmul(seed).make();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
  }
}

bool is_offered_on_devices(const MatmulCase& test) {
  const Dtype factors = test.operands.a.dtype;
  return factors != Dtype::i8 && !is_float8(factors);
}

/// The same in device memory; false: not offered there.
bool put_on_device(MatmulCase& test) {
  if (!is_offered_on_devices(test)) return false;
  testing::lay_on_devices(test);
  return true;
}

TEST(MatmulPlan, DevicesMultiplyWhateverTheDistributionsAreToo) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    MatmulCase test = RandomMatmul(50000 + seed).make(2, 8);
    if (!put_on_device(test)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
  }
}

// No pass, and no scratch, for rounding alone.
TEST(MatmulPlan, DevicesRoundInTheProductWhereNothingComesAfter) {
  MatmulCase test = square(24, Slab(1), Topology::regular(3));
  for (auto* const one : {&test.operands.a, &test.operands.b, &test.operands.d}) one->dtype = Dtype::bf16;
  test.operands.a.layout = Layout(Slab(0), {24, 24}, 3);
  ASSERT_TRUE(put_on_device(test));
  const auto passes = [](const Plan& plan) {
    return std::ranges::count_if(
        plan.works, [](const Work& work) { return std::holds_alternative<ApplyEpilogue>(work); });
  };
  EXPECT_EQ(passes(test.plan(1)), 0);
  run(test, 1);
  test.options.epilogue = Epilogue::relu;
  EXPECT_GT(passes(test.plan(1)), 0);
  run(test, 2);
}

// Operands in host memory are copied to arrays of the device's own, which the plan knows.
TEST(MatmulPlan, IsTheDevicesWhereAnyOperandLiesThere) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    MatmulCase test = RandomMatmul(60000 + seed).make(1, 4);
    if (test.in_place || !is_offered_on_devices(test)) continue;
    (seed % 2 == 0 ? test.operands.a : test.operands.d).space = MemorySpace::device;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    const Plan plan = test.plan(0);
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.kind == BufferKind::operand) {
        EXPECT_EQ(buffer.operand->space, MemorySpace::device) << buffer.name;
      }
    }
    const bool reads = test.parameters.alpha != Number(0);
    EXPECT_TRUE(!reads || contains(plan.reason, "from host memory to the device before: "));
    EXPECT_EQ(contains(plan.reason, "copied back to host memory after: D"), seed % 2 == 0);
    run(test, seed);
    if (HasFatalFailure()) return;
  }
}

// Messages may go through host memory.
TEST(MatmulPlan, DevicesSendFromPrivateScratchAndComputeElsewhere) {
  int sends = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    MatmulCase test = RandomMatmul(seed).make();
    if (!put_on_device(test)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
    for (int rank = 0; rank < test.topology.ranks(); ++rank) {
      const Plan plan = test.plan(rank);
      const std::vector<bool> of_messages = execution::message_buffers(plan);
      for (const Step& step : plan.steps) {
        if (step.kind == StepKind::send) {
          ASSERT_TRUE(planning::is_private(plan, step.from));
          ++sends;
        }
        if (step.kind != StepKind::compute) continue;
        planning::for_each_part(planning::work_of(plan, step), [&](const Part& part, planning::Use) {
          EXPECT_FALSE(of_messages[static_cast<std::size_t>(planning::memory_of(plan, part.place))]);
        });
      }
    }
  }
  EXPECT_GT(sends, 500);
}

bool is_push(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && step.to.rank != plan.rank &&
         plan.buffers[static_cast<std::size_t>(step.to.buffer)].name.starts_with("landing");
}

/// On a device of a machine on which no piece is too small.
std::optional<MatmulCase> pushing_case(std::uint64_t seed) {
  MatmulCase test = RandomMatmul(seed).make();
  test.machine.copy_latency = 0;
  return put_on_device(test) ? std::optional(test) : std::nullopt;
}

// In whatever order what is put arrives compared with what is multiplied.
TEST(MatmulPlan, NeighboursPutWhatDevicesMultiply) {
  int pushes = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::optional<MatmulCase> made = pushing_case(seed);
    if (!made) continue;
    const MatmulCase& test = *made;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    run(test, seed);
    if (HasFatalFailure()) return;
    for (int rank = 0; rank < test.topology.ranks(); ++rank) {
      const Plan plan = test.plan(rank);
      pushes += static_cast<int>(
          std::ranges::count_if(plan.steps, [&](const Step& step) { return is_push(plan, step); }));
      for (const Part& part : planning::parts_read_from_peers(plan)) {
        EXPECT_EQ(part.place.rank, rank) << plan.buffers[static_cast<std::size_t>(part.place.buffer)].name;
      }
    }
  }
  EXPECT_GT(pushes, 1000);
}

// Lanes go at any pace: what is not waited for is not there in some order.
TEST(MatmulPlan, APieceThatNobodyWaitsForIsFound) {
  int found = 0, tried = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::optional<MatmulCase> made = pushing_case(seed);
    if (!made) continue;
    const MatmulCase& test = *made;
    if (test.k == 0 || test.parameters.alpha == Number(0)) continue;
    const Planner hasty = [&](int rank) {
      Plan plan = test.plan(rank);
      for (Step& step : plan.steps) {
        const bool waits =
            step.kind == StepKind::wait && step.channel == static_cast<int>(planning::Channel::written);
        if (waits) step.count = 0;
      }
      return plan;
    };
    const Plan first = test.plan(0);
    const bool pushed =
        std::ranges::any_of(first.steps, [&](const Step& step) { return is_push(first, step); });
    if (!pushed) continue;
    ++tried;
    const Verdict verdict = testing::matmul_numbers::verdict_of(test, hasty, seed, 12);
    const auto is_number = [](const std::string& fault) { return contains(fault, "are wrong"); };
    if (std::ranges::any_of(verdict.faults, is_number)) ++found;
  }
  EXPECT_GT(tried, 20);
  EXPECT_GT(found * 5, tried * 4);  // of some the waits that are left say it, too
}

TEST(MatmulPlan, KeepsToTheMemoryLimitOrSaysWhatWouldDo) {
  int kept = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    MatmulCase test = RandomMatmul(7000 + seed).make();
    const std::int64_t unlimited = most_scratch(test);
    if (unlimited < 2) continue;
    RandomLayouts random(seed);
    test.options.memory_limit = std::max<std::int64_t>(unlimited * random.number(20, 100) / 100, 1);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    try {
      ASSERT_LE(most_scratch(test), test.options.memory_limit);
    } catch (const ArgumentError& error) {
      ASSERT_TRUE(contains(error.what(), "memory")) << error.what();
      ++refused;
      continue;
    }
    ++kept;
    run(test, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(kept, 5);
  EXPECT_GT(refused, 20);
}

/// The bytes that an error says are required; 0: it says nothing.
std::int64_t bytes_that_would_do(const std::string& text) {
  const std::string before = "; at least ";
  const std::size_t place = text.find(before);
  return place == std::string::npos ? 0 : std::atoll(text.c_str() + place + before.size());
}

// Operands that fit no method: what is redistributed before and after the multiply counts, too.
TEST(MatmulPlan, TheLimitHoldsForAllOfThePlan) {
  int kept = 0, redistributed = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    MatmulCase test = RandomMatmul(20000 + seed).make();
    test.options.method = MatmulMethod::automatic;
    RandomLayouts random(seed);
    test.options.memory_limit = random.number(1, 20000);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    for (int attempt = 0; attempt < 2; ++attempt) {
      try {
        ASSERT_LE(most_scratch(test), test.options.memory_limit);
        ++kept;
        redistributed += contains(test.plan(0).reason, "redistributed") ? 1 : 0;
        break;
      } catch (const ArgumentError& error) {
        const std::int64_t enough = bytes_that_would_do(error.what());
        ASSERT_GT(enough, test.options.memory_limit) << error.what();
        ASSERT_EQ(attempt, 0) << error.what();
        test.options.memory_limit = enough;
      }
    }
  }
  EXPECT_GT(kept, 1000);
  EXPECT_GT(redistributed, 200);
}

// Between nodes a plan with more room makes longer messages, which take more of it.
TEST(MatmulPlan, WhatARefusalSaysWouldDoDoes) {
  int refused = 0;
  const auto would_do = [&](MatmulCase test) {
    test.options.memory_limit = 1;
    for (int rank = 0; rank < test.topology.ranks(); ++rank) {
      try {
        (void)test.plan(rank);
        continue;
      } catch (const ArgumentError& error) {
        test.options.memory_limit = bytes_that_would_do(error.what());
      }
      ++refused;
      ASSERT_LE(most_scratch(test), test.options.memory_limit);
      return;
    }
  };
  std::vector<std::uint64_t> seeds{200208, 202071, 202267, 202338};  // whose messages need most padding
  for (std::uint64_t seed = 90000; seed < 90400; ++seed) seeds.push_back(seed);
  for (const std::uint64_t seed : seeds) {
    MatmulCase test = RandomMatmul(seed).make();
    if (seed % 2 != 0) test.options.method = MatmulMethod::automatic;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + test.to_string());
    EXPECT_NO_THROW(would_do(test));
    const bool on_device = put_on_device(test);
    EXPECT_NO_THROW(on_device ? would_do(test) : void());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 300);
}

// There are no messages that a limit must keep short: what devices sum is cut into few pieces.
TEST(MatmulPlan, ALimitDoesNotCutTheSumsOfDevicesOfOneNode) {
  MatmulCase test = square(512, Slab(0), Topology::regular(4));
  lay_on_devices(test);
  test.options.method = MatmulMethod::reduce_scatter;
  test.options.memory_limit = 1;
  try {
    (void)test.plan(0);
    FAIL() << "not refused";
  } catch (const ArgumentError& error) {
    test.options.memory_limit = bytes_that_would_do(error.what());
  }
  EXPECT_LT(test.plan(0).steps.size(), 100u);
}

TEST(MatmulPlan, NothingIsCopiedThatTheLocalMultiplyCanReadWhereItLies) {
  for (const char* distribution : {"slab:0", "slab:1", "block-noncyclic:2x2", "block-cyclic:2x2:3x5"}) {
    const MatmulCase test = square(37, Distribution::parse(distribution), Topology::regular(4));
    for (int rank = 0; rank < 4; ++rank) {
      const Plan plan = test.plan(rank);
      EXPECT_EQ(planning::scratch_bytes(plan), 0) << distribution;
      for (const Step& step : plan.steps) EXPECT_NE(step.kind, StepKind::copy) << distribution;
    }
    run(test, 1);
  }
}

// k is cut as A's columns are, so that of its columns of B a rank gives away the rows of the other's k.
TEST(MatmulPlan, OwnersOfOrdinaryMemoryCopyWhatPeersReadAndNoMore) {
  MatmulCase test = square(16, BlockCyclic({1, 2}, {4, 4}), Topology::regular(2));
  test.operands.a.residency = test.operands.b.residency = Residency::ordinary;
  test.options.method = MatmulMethod::reduce_scatter;
  for (int rank = 0; rank < 2; ++rank) {
    const Plan plan = test.plan(rank);
    std::int64_t published = 0;
    for (const Step& step : plan.steps) {
      if (step.kind != StepKind::copy) continue;
      const Buffer& to = plan.buffers[static_cast<std::size_t>(step.to.buffer)];
      if (contains(to.name, "published")) published += step.region.size();
    }
    EXPECT_EQ(published, 16 * 16 / 4) << rank;
  }
  run(test, 1);
}

TEST(MatmulPlan, TheOwnPieceComesFirstWhereOneOperandMoves) {
  MatmulCase test = square(16, Slab(0), Topology::regular(4));
  test.options.method = MatmulMethod::all_gather;
  const Plan plan = test.plan(2);
  std::vector<int> owners;
  for (const Work& work : plan.works) owners.push_back(std::get<Multiply>(work).b.place.rank);
  EXPECT_EQ(owners, (std::vector<int>{2, 3, 0, 1}));
}

// Both move, and what a rank has of both makes a product before anything has come.
TEST(MatmulPlan, TheOwnPiecesComeFirstWhereBothAreCutAlongK) {
  MatmulCase test = square(16, Slab(0), Topology::regular(4));
  test.operands.a.layout = Layout(Slab(1), {16, 16}, 4);
  test.options.method = MatmulMethod::summa_c;
  for (int rank = 0; rank < 4; ++rank) {
    const Plan plan = test.plan(rank);
    std::vector<int> owners;
    for (const Work& work : plan.works) {
      const auto& product = std::get<Multiply>(work);
      owners.push_back(product.b.place.rank);
      EXPECT_EQ(product.a.place.rank, product.b.place.rank);
    }
    EXPECT_EQ(owners, (std::vector<int>{rank, (rank + 1) % 4, (rank + 2) % 4, (rank + 3) % 4}));
  }
}

std::vector<std::int64_t> first_rows(const Plan& plan) {
  std::vector<std::int64_t> rows;
  for (const Work& work : plan.works) rows.push_back(std::get<Multiply>(work).to.region.sets[0].front());
  return rows;
}

MatmulCase cut_along_k(std::int64_t extent) {
  MatmulCase test = square(extent, Slab(0), Topology::regular(4));
  test.operands.a.layout = Layout(Slab(1), {extent, extent}, 4);
  test.options.method = MatmulMethod::reduce_scatter;
  return test;
}

/// In blocks that go around a square grid, of a machine on which nothing is too small to be cut.
MatmulCase on_square_grid(Order order, Dtype dtype) {
  MatmulCase test = square(16, BlockCyclic({2, 2}, {2, 2}), Topology::regular(4));
  const Layout layout = test.operands.d.layout;
  test.operands.a = test.operands.b = test.operands.d = Operand::of(layout, dtype, order, Residency::heap);
  testing::lay_on_devices(test);
  test.options.method = MatmulMethod::summa_c;
  test.machine.copy_latency = 0;
  test.machine.peer_bandwidth = test.machine.flops = test.machine.flops_f32 = test.machine.flops_16 = 1;
  return test;
}

// Rows of A, or columns of B, whichever are contiguous: a rank that has nothing to begin with begins
// with the first of them, while the others are on their way.
TEST(MatmulPlan, WhereTheFirstPieceIsAwaitedItsLinesComeInPieces) {
  for (const Order order : {Order::row_major, Order::column_major}) {
    for (const Dtype dtype : {Dtype::f64, Dtype::bf16}) {
      const MatmulCase test = on_square_grid(order, dtype);
      const bool of_a = order == Order::row_major;
      for (int rank = 0; rank < 4; ++rank) {
        const Plan plan = test.plan(rank);
        std::vector<Multiply> products;
        for (const Work& work : plan.works) {
          if (const auto* const product = std::get_if<Multiply>(&work)) products.push_back(*product);
        }
        ASSERT_EQ(products.size(), 16u) << rank;  // of 8 rows, for each half of k
        const Part& first = of_a ? products[0].a : products[0].b;
        const Part& other = of_a ? products[0].b : products[0].a;
        EXPECT_EQ(first.region.sets[of_a ? 0 : 1].size(), 1) << rank;
        EXPECT_EQ(other.region.sets[of_a ? 1 : 0].size(), 8) << rank;
        const bool has_both = rank == 0 || rank == 3;
        EXPECT_EQ(plan.buffers[static_cast<std::size_t>(first.place.buffer)].name == "landing", !has_both)
            << rank;
        EXPECT_NE(plan.buffers[static_cast<std::size_t>(other.place.buffer)].name, "landing") << rank;
      }
      run(test, 1);
    }
  }
}

// B has no batch where D has one: which of its lines are contiguous is a question of its axes.
TEST(MatmulPlan, LinesOfAnInputWithoutTheBatchComeInPieces) {
  MatmulCase test = on_square_grid(Order::column_major, Dtype::f64);
  const Layout batched(BlockCyclic({1, 2, 2}, {1, 2, 2}), {1, 16, 16}, 4);
  test.operands.a = test.operands.d = Operand::of(batched, Dtype::f64, Order::column_major, Residency::heap);
  test.batch = {1};
  testing::lay_on_devices(test);
  for (int rank = 0; rank < 4; ++rank) {
    const Plan plan = test.plan(rank);
    const auto first = std::ranges::find_if(
        plan.works, [](const Work& work) { return std::holds_alternative<Multiply>(work); });
    ASSERT_NE(first, plan.works.end()) << rank;
    const auto& product = std::get<Multiply>(*first);
    EXPECT_EQ(product.a.region.sets[1].size(), 8) << rank;
    EXPECT_EQ(product.b.region.sets[1].size(), 1) << rank;
  }
  run(test, 1);
}

// By what the link takes for a piece, a start, and the multiprocessors that the last wave of a product
// leaves idle.
TEST(MatmulPlan, PiecesOfLinesStillFillADevice) {
  const auto products = [](std::int64_t extent, Dtype dtype) {
    MatmulCase test = square(extent, BlockCyclic({2, 2}, {256, 256}), Topology::regular(4));
    for (Operand* const one : {&test.operands.a, &test.operands.b, &test.operands.d}) one->dtype = dtype;
    testing::lay_on_devices(test);
    test.options.method = MatmulMethod::summa_c;
    test.machine = Machine::find("node-8-gpu");
    const Plan plan = test.plan(1);
    return std::ranges::count_if(plan.works,
                                 [](const Work& work) { return std::holds_alternative<Multiply>(work); });
  };
  EXPECT_EQ(products(2048, Dtype::bf16), 2);
  EXPECT_EQ(products(8192, Dtype::bf16), 4);
  EXPECT_EQ(products(32768, Dtype::f64), 16);
}

TEST(MatmulPlan, TheOwnPieceComesLastWhereSumsMove) {
  EXPECT_EQ(first_rows(cut_along_k(4096).plan(1)), (std::vector<std::int64_t>{2048, 3072, 0, 1024}));
}

TEST(MatmulPlan, ThinPiecesAreMadeByOneMultiply) {
  const MatmulCase test = cut_along_k(16);
  EXPECT_EQ(first_rows(test.plan(1)), (std::vector<std::int64_t>{0}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) run(test, seed);
}

TEST(MatmulPlan, ThinPartsOfManyRanksAreMadeSquareFirst) {
  MatmulCase test = square(216, Slab(0), Topology::regular(216, 36));
  test.options.method = MatmulMethod::communication_avoiding;
  const Plan plan = test.plan(5);
  EXPECT_TRUE(contains(plan.reason, "a is redistributed")) << plan.method << plan.reason;
  EXPECT_LT(plan.works.size(), 400u);
}

// Turns short enough that messages of several are under way.
TEST(MatmulPlan, MessagesAreCutIntoTurnsThatFitTheMemoryLimit) {
  for (const char* distribution : {"slab:0", "slab:1", "block-noncyclic:2x2", "block-cyclic:2x2:3x5"}) {
    MatmulCase test = square(20, Distribution::parse(distribution), Topology::regular(4, 1));
    test.k = 300;
    test.operands.a.layout = Layout(Distribution::parse(distribution), {20, 300}, 4);
    test.operands.b.layout = Layout(Distribution::parse(distribution), {300, 20}, 4);
    test.options.method = MatmulMethod::summa_c;
    test.options.memory_limit = 64000;
    SCOPED_TRACE(test.to_string());
    EXPECT_LE(most_scratch(test), 64000);
    for (std::uint64_t seed = 0; seed < 2; ++seed) run(test, seed);
  }
}

// What a turn needs of many owners is brought together, for one multiply.
TEST(MatmulPlan, WhatManyOwnersHoldIsGatheredIntoPanelsWithinAMemoryLimit) {
  struct Case {
    const char *a, *b, *d;
    int ranks_per_node;
  };
  std::uint64_t seed = 0;
  for (const auto& [a, b, d, ranks_per_node] :
       {Case{"slab:0", "slab:0", "slab:0", 8}, Case{"slab:1", "slab:1", "slab:1", 1},
        Case{"slab:0", "slab:0", "block-noncyclic:8x8", 5}}) {
    MatmulCase test = square(64, Slab(0), Topology::regular(64, ranks_per_node));
    test.k = 61;
    test.operands.a.layout = Layout(Distribution::parse(a), {64, 61}, 64);
    test.operands.b.layout = Layout(Distribution::parse(b), {61, 64}, 64);
    test.operands.d.layout = Layout(Distribution::parse(d), {64, 64}, 64);
    test.options.method = MatmulMethod::communication_avoiding;
    test.options.memory_limit = 30000;
    SCOPED_TRACE(test.to_string());
    const Plan plan = test.plan(37);
    EXPECT_LT(plan.works.size(), 20u) << plan.method;
    EXPECT_LE(planning::scratch_bytes(plan), test.options.memory_limit);
    run(test, ++seed);
    if (HasFatalFailure()) return;
  }
}

// Nobody writes into a peer's memory here, so there is nothing to grant: operands and products are read.
TEST(MatmulPlan, SignalsMeanWhatTheyMeanInAllPlans) {
  MatmulCase test = square(12, Slab(1), Topology::regular(3));
  test.operands.b.layout = Layout(Slab(0), {12, 12}, 3);
  test.operands.d.layout = Layout(Slab(0), {12, 12}, 3);
  test.options.method = MatmulMethod::reduce_scatter;
  int signals = 0;
  for (int rank = 0; rank < 3; ++rank) {
    for (const Step& step : test.plan(rank).steps) {
      if (step.kind != StepKind::signal && step.kind != StepKind::wait) continue;
      ++signals;
      EXPECT_LE(step.channel, static_cast<int>(planning::Channel::done)) << "rank " << rank;
    }
  }
  EXPECT_GT(signals, 0);
  run(test, 1);
}

TEST(MatmulPlan, IsQuicklyMadeForOneRankOfManyThousand) {
  for (const char* distribution : {"block-noncyclic:64x64", "block-cyclic:64x64:128x128", "slab:0"}) {
    const MatmulCase test = square(131072, Distribution::parse(distribution), Topology::regular(4096, 64));
    const Plan plan = test.plan(1234);
    EXPECT_LT(plan.steps.size(), 20000u) << distribution;
    EXPECT_LT(plan.works.size(), 8000u) << distribution;
  }
}

// As many multiplies as other ranks, of 32 lines each, cost more than moving the slabs to squares.
TEST(MatmulPlan, SlabsOfManyRanksAreRedistributedToSquaresWhereThatIsCheaper) {
  MatmulCase test = square(32768, Slab(0), Topology::regular(1024, 64));
  test.machine = Machine::find("cluster");
  EXPECT_NE(test.plan(77).reason.find("a is redistributed to block-noncyclic:32x32"), std::string::npos);
  test.operands.b = test.operands.d;
  test.options.alpha = 0;  // nothing is multiplied
  EXPECT_EQ(test.plan(77).reason.find("redistributed"), std::string::npos);
}

TEST(MatmulPlan, IsOneOperationOnAllRanks) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const MatmulCase test = RandomMatmul(seed).make();
    for (int rank = 1; rank < test.topology.ranks(); ++rank) {
      ASSERT_EQ(test.plan(rank).hash(), test.plan(0).hash()) << test.to_string();
    }
  }
}

}  // namespace
}  // namespace partita
