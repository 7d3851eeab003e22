// What a plan's steps touch, and what they wait for in lanes, against brute force.
#include "plan/dependencies.hpp"

#include "execute/lower.hpp"
#include "plan/channels.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using Random = std::mt19937_64;

int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(limit));
}

struct Case {
  Plan plan;
  std::vector<planning::Touched> touched;
  std::vector<int> lanes;
};

constexpr int buffers = 3, bytes = 41;

std::vector<planning::MemoryRange> random_ranges(Random& random) {
  std::vector<planning::MemoryRange> ranges;
  for (int i = below(random, 3); i > 0; --i) {
    const int first = below(random, bytes);
    ranges.push_back({below(random, buffers), below(random, 2), first,
                      first + below(random, std::min(8, bytes - first) + 1), below(random, 3) == 0});
    if (below(random, 2) == 0) continue;
    constexpr int row = 4;
    const int column = below(random, row);
    ranges.back().columns = {row, column, column + 1 + below(random, row - column)};
  }
  return ranges;
}

Case random_case(Random& random) {
  Case made;
  const int count = 1 + below(random, 5);
  for (int steps = below(random, 70); steps > 0; --steps) {
    Step step;
    planning::Touched touched;
    const int kind = below(random, 8);
    if (kind < 2) {
      step.kind = kind == 0 ? StepKind::signal : StepKind::wait;
      step.peer = 1 + below(random, 2);
      step.channel = below(random, 4);
    } else {
      touched = {random_ranges(random), random_ranges(random)};
    }
    made.plan.steps.push_back(step);
    made.touched.push_back(touched);
    made.lanes.push_back(below(random, count + 1) - (below(random, 20) == 0 ? 1 : 0));
  }
  return made;
}

bool meet(const std::vector<planning::MemoryRange>& a, const std::vector<planning::MemoryRange>& b) {
  for (const planning::MemoryRange& one : a) {
    for (const planning::MemoryRange& other : b) {
      if (one.buffer == other.buffer && one.rank == other.rank &&
          std::max(one.first, other.first) < std::min(one.last, other.last) &&
          one.columns.meet(other.columns)) {
        return true;
      }
    }
  }
  return false;
}

/// Of memory that peers may access, too: the step has read (or written) that of `rank`.
bool accesses(const planning::Touched& touched, int rank, bool written) {
  return std::ranges::any_of(
      written ? touched.written : touched.read,
      [&](const planning::MemoryRange& range) { return range.rank == rank && (range.shared || rank != 0); });
}

/// A signal says that this is done, or a wait was for it. The plan's rank is 0.
bool concerns(const Step& flag, const planning::Touched& touched) {
  const bool signals = flag.kind == StepKind::signal;
  const auto writes = [&](int rank) { return accesses(touched, rank, true); };
  const auto reads = [&](int rank) { return accesses(touched, rank, false); };
  switch (static_cast<planning::Channel>(flag.channel)) {
    case planning::Channel::ready:
      return signals ? writes(0) : reads(flag.peer);
    case planning::Channel::done:
      return signals ? reads(flag.peer) : writes(0);
    case planning::Channel::grant:
      return signals ? reads(0) || writes(0) : writes(flag.peer);
    case planning::Channel::written:
      return signals ? writes(flag.peer) : reads(0) || writes(0);
  }
  return true;
}

/// The later one has to follow the earlier one.
bool conflict(const Case& one, std::size_t early, std::size_t late) {
  if (one.lanes[early] < 0 || one.lanes[late] < 0) return false;
  const planning::Touched& first = one.touched[early];
  const planning::Touched& second = one.touched[late];
  const Step& before = one.plan.steps[early];
  const Step& behind = one.plan.steps[late];
  const auto is_flag = [](const Step& step) {
    return step.kind == StepKind::signal || step.kind == StepKind::wait;
  };
  const bool same_flag = is_flag(before) && before.kind == behind.kind && before.peer == behind.peer &&
                         before.channel == behind.channel;
  return meet(first.written, second.read) || meet(first.written, second.written) ||
         meet(first.read, second.written) || same_flag ||
         (behind.kind == StepKind::signal && concerns(behind, first)) ||
         (before.kind == StepKind::wait && concerns(before, second));
}

/// [late][early]: it is done by then, without the wait of `but` for `for_step`.
std::vector<std::vector<bool>> order_of(const Case& one, const planning::Dependencies& found, int but = -1,
                                        int for_step = -1) {
  const std::size_t steps = one.lanes.size();
  std::vector<std::vector<bool>> done(steps, std::vector<bool>(steps, false));
  const auto follow = [&](std::size_t late, std::size_t early) {
    done[late][early] = true;
    for (std::size_t i = 0; i < early; ++i) done[late][i] = done[late][i] || done[early][i];
  };
  for (std::size_t late = 0; late < steps; ++late) {
    if (one.lanes[late] < 0) continue;
    for (std::size_t early = 0; early < late; ++early) {
      if (one.lanes[early] == one.lanes[late]) follow(late, early);
    }
    for (const int early : found.after[late]) {
      if (early != but || static_cast<int>(late) != for_step) follow(late, static_cast<std::size_t>(early));
    }
  }
  return done;
}

TEST(Dependencies, EveryConflictIsOrderedAndNoWaitIsIdle) {
  Random random(20261122);
  for (int turn = 0; turn < 400; ++turn) {
    const Case one = random_case(random);
    const planning::Dependencies found = planning::find_dependencies(one.plan, one.touched, one.lanes);
    ASSERT_EQ(found.after.size(), one.lanes.size());
    const auto done = order_of(one, found);
    for (std::size_t late = 0; late < one.lanes.size(); ++late) {
      for (std::size_t early = 0; early < late; ++early) {
        ASSERT_TRUE(!conflict(one, early, late) || done[late][early])
            << turn << ": " << late << " does not follow " << early;
      }
      for (const int early : found.after[late]) {
        ASSERT_TRUE(conflict(one, static_cast<std::size_t>(early), late));
        ASSERT_NE(one.lanes[static_cast<std::size_t>(early)], one.lanes[late]);
        if (turn >= 100) continue;
        ASSERT_FALSE(
            order_of(one, found, early, static_cast<int>(late))[late][static_cast<std::size_t>(early)])
            << turn << ": that " << late << " waits for " << early << " is known already";
      }
    }
  }
}

/// Memory in which each step writes what it has read so far.
class RecordedMemory {
 public:
  void run(const Case& one, std::size_t index) {
    std::uint64_t value = index + 1;
    for_each(one.touched[index].read, [&](std::uint64_t& cell) { value = value * 31 + cell; });
    for_each(one.touched[index].written, [&](std::uint64_t& cell) { cell = value = value * 31 + cell; });
  }
  friend bool operator==(const RecordedMemory&, const RecordedMemory&) = default;

 private:
  template <class Visit>
  void for_each(const std::vector<planning::MemoryRange>& ranges, const Visit& visit) {
    for (const planning::MemoryRange& range : ranges) {
      for (std::int64_t i = range.first; i < range.last; ++i) {
        const planning::Columns& columns = range.columns;
        const std::int64_t column = columns.row > 0 ? i % columns.row : 0;
        if (columns.row > 0 && (column < columns.first || column >= columns.last)) continue;
        visit(cells_[static_cast<std::size_t>((range.buffer * 2 + range.rank) * bytes + i)]);
      }
    }
  }
  std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(std::size_t{2} * buffers * bytes);
};

TEST(Dependencies, LanesAtAnyPaceLeaveTheMemoryOfThePlan) {
  Random random(7);
  for (int turn = 0; turn < 300; ++turn) {
    Case one = random_case(random);
    for (int& lane : one.lanes) lane = std::max(lane, 0);
    const planning::Dependencies found = planning::find_dependencies(one.plan, one.touched, one.lanes);
    RecordedMemory expected, memory;
    for (std::size_t i = 0; i < one.lanes.size(); ++i) expected.run(one, i);

    std::vector<bool> done(one.lanes.size(), false);
    const auto may_run = [&](std::size_t step) {
      for (std::size_t i = 0; i < step; ++i) {
        if (one.lanes[i] == one.lanes[step] && !done[i]) return false;
      }
      return std::ranges::all_of(found.after[step], [&](int i) { return done[static_cast<std::size_t>(i)]; });
    };
    for (std::size_t left = done.size(); left > 0; --left) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < done.size(); ++i) {
        if (!done[i] && may_run(i)) ready.push_back(i);
      }
      ASSERT_FALSE(ready.empty());
      const std::size_t next = ready[random() % ready.size()];
      memory.run(one, next);
      done[next] = true;
    }
    ASSERT_EQ(memory, expected) << turn;
  }
}

// --- what steps touch

planning::MemoryRange hull(const Plan& plan, const Place& place,
                           const std::vector<kernels::StridedCopy>& nests, bool is_source) {
  planning::MemoryRange range{planning::memory_of(plan, place), place.rank,
                              std::numeric_limits<std::int64_t>::max(), -1};
  for (const kernels::StridedCopy& nest : nests) {
    const std::int64_t first = is_source ? nest.from_offset : nest.to_offset;
    std::int64_t last = first + nest.item_bytes;
    for (const kernels::CopyLoop& loop : nest.loops) {
      last += (loop.count - 1) * (is_source ? loop.from_stride : loop.to_stride);
    }
    range.first = std::min(range.first, first);
    range.last = std::max(range.last, last);
  }
  return range;
}

void expect_range(const std::vector<planning::MemoryRange>& found, const planning::MemoryRange& wanted) {
  EXPECT_TRUE(std::ranges::any_of(found,
                                  [&](const planning::MemoryRange& one) {
                                    return one.buffer == wanted.buffer && one.rank == wanted.rank &&
                                           one.first == wanted.first && one.last == wanted.last;
                                  }))
      << "no [" << wanted.first << ", " << wanted.last << ") of buffer " << wanted.buffer;
}

void expect_touched(const Plan& plan) {
  const std::vector<planning::Touched> touched = planning::touched_by_steps(plan);
  const std::vector<Strides> strides(plan.buffers.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (planning::is_copy(step.kind) && !step.region.empty()) {
      const std::vector<kernels::StridedCopy> nests = execution::lower(plan, step, strides);
      ASSERT_EQ(touched[i].written.size(), 1);
      expect_range(touched[i].written, hull(plan, step.to, nests, false));
      if (step.kind != StepKind::fill) expect_range(touched[i].read, hull(plan, step.from, nests, true));
    }
    if (step.kind != StepKind::compute) continue;
    planning::for_each_part(planning::work_of(plan, step), [&](const Part& part, planning::Use use) {
      if (part.region.empty()) return;
      const std::int64_t item = size_of(planning::dtype_at(plan, part.place));
      const execution::Side side = execution::side_of(plan, part.place, part.region, {}, item);
      expect_range(use == planning::Use::read ? touched[i].read : touched[i].written,
                   hull(plan, part.place, execution::lower(part.region, side, side, item), true));
    });
  }
}

TEST(Touched, CopiesTouchWhatTheyAreLoweredTo) {
  const Layout rows(Slab(0), {37, 19}, 4), columns(Slab(1), {37, 19}, 4);
  const Layout blocks(BlockCyclic({2, 2}, {3, 5}), {37, 19}, 4);
  for (const auto& [from, to] :
       {std::pair(rows, columns), std::pair(blocks, rows), std::pair(columns, blocks)}) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      for (int rank = 0; rank < 4; ++rank) {
        const Operand source = Operand::of(from, Dtype::f32, Order::row_major, residency);
        const Operand destination = Operand::of(to, Dtype::f32, Order::column_major, residency);
        expect_touched(plan_redistribute(source, destination, Topology::regular(4, 2), rank, {}));
      }
    }
  }
}

TEST(Touched, WorksTouchTheirParts) {
  const auto operand = [](const Distribution& distribution, std::int64_t rows, std::int64_t columns) {
    return Operand::of(Layout(distribution, {rows, columns}, 4), Dtype::f64);
  };
  const MatmulOperands operands{
      operand(Slab(0), 23, 17), operand(Slab(1), 17, 29), {}, operand(Slab(0), 23, 29)};
  for (int rank = 0; rank < 4; ++rank) {
    expect_touched(plan_matmul(operands, Topology::regular(4, 2), rank, {}, {}, false));
  }
}

/// Lines of packed panels are apart.
TEST(Touched, FactorizationsTouchTheirPanels) {
  Operand a = Operand::of(Layout(Slab(0), {19, 19}, 4), Dtype::f64);
  for (const MemorySpace space : {MemorySpace::host, MemorySpace::device}) {
    a.space = space;
    for (const Factorization kind : {Factorization::cholesky, Factorization::lu, Factorization::qr}) {
      for (int rank = 0; rank < 4; ++rank)
        expect_touched(plan_factorization(kind, a, Topology::regular(4, 2), rank, {.block = 3}));
    }
  }
}

/// Copies of ranges along a dimension of an array of 3 x 10 x 12 elements of 4 bytes.
Plan copies_of(std::size_t dimension, const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  const Operand operand = Operand::of(Layout(Slab(0), {6, 10, 12}, 2), Dtype::f32);
  Plan plan;
  plan.buffers = {{"array", BufferKind::operand, operand, 0}, {"other", BufferKind::operand, operand, 0}};
  for (const auto& [first, last] : ranges) {
    Step step;
    step.region = operand.layout.region(0);
    step.region.sets[dimension] = IndexSet::range(first, last);
    step.to.buffer = 1;
    plan.steps.push_back(step);
  }
  return plan;
}

/// Of planes, parts that leave out rows of each.
TEST(Touched, RowsOfPlanesAreApart) {
  const Plan plan = copies_of(1, {{0, 4}, {4, 10}, {3, 5}});
  const std::vector<planning::Touched> touched = planning::touched_by_steps(plan);
  EXPECT_EQ(touched[1].written.front().columns, (planning::Columns{480, 192, 480}));
  const planning::Dependencies found = planning::find_dependencies(plan, touched, std::vector{0, 1, 2});
  EXPECT_TRUE(found.after[1].empty());
  EXPECT_EQ(found.after[2], (std::vector{1, 0}));
}

/// Of rows, parts that leave out something of each.
TEST(Touched, ColumnsOfAnArrayAreApart) {
  const Plan plan = copies_of(2, {{0, 4}, {4, 12}, {3, 5}, {0, 12}});
  const std::vector<planning::Touched> touched = planning::touched_by_steps(plan);
  EXPECT_EQ(touched[1].written.front().columns, (planning::Columns{48, 16, 48}));
  EXPECT_EQ(touched[3].written.front().columns, planning::Columns());
  const planning::Dependencies found = planning::find_dependencies(plan, touched, std::vector{0, 1, 2, 3});
  EXPECT_TRUE(found.after[1].empty());
  EXPECT_EQ(found.after[2], (std::vector{1, 0}));
  EXPECT_EQ(found.after[3], std::vector{2});
}

TEST(Touched, OperandsThatMeetAreOnePiece) {
  const Operand operand = Operand::of(Layout(Slab(0), {8}, 1), Dtype::f32);
  Plan plan;
  plan.buffers = {{"scratch", BufferKind::scratch, {}, 64},
                  {"source", BufferKind::operand, operand, 0},
                  {"destination", BufferKind::operand, operand, 0}};
  std::vector<planning::Touched> touched{{{{1, 0, 0, 4}}, {{2, 0, 28, 32}}},
                                         {{{2, 0, 0, 4}}, {{0, 0, 0, 4}}}};
  const std::vector<int> lanes{0, 1};
  plan.steps.resize(2);
  EXPECT_TRUE(planning::find_dependencies(plan, touched, lanes).after[1].empty());
  planning::join_operands(plan, touched);
  EXPECT_EQ(planning::find_dependencies(plan, touched, lanes).after[1], std::vector{0});
}

}  // namespace
}  // namespace partita::testing
