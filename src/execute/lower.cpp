#include "execute/lower.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "kernels/host/fill.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita::execution {
namespace {

/// Two loops of one dimension: over the runs of an interval, and within a run.
struct Piece {
  std::int64_t from = 0;  // position of the first element
  std::int64_t to = 0;
  std::int64_t from_step = 0;  // positions from one run to the next
  std::int64_t to_step = 0;
  std::int64_t count = 1;
  std::int64_t length = 0;
};

/// Whether all windows [first + i * period, first + (i + 1) * period), i < count - 1, hold equally many
/// elements of `set`: so it is if each of the set's intervals repeats evenly all over them or stays outside.
bool steps_evenly(const IndexSet& set, const Interval& run) {
  const std::int64_t last = run.first + (run.count - 1) * run.period;
  for (const Interval& other : set.intervals()) {
    const std::int64_t end = other.first + (other.count - 1) * other.period + other.length;
    if (end <= run.first || other.first >= last) continue;
    const bool spans = other.count > 1 && run.period % other.period == 0 &&
                       other.first - (other.period - other.length) <= run.first &&
                       last <= other.first + other.count * other.period;
    const bool solid = other.count == 1 && other.first <= run.first && last <= end;
    if (!spans && !solid) return false;
  }
  return true;
}

Piece piece_of(const Interval& run, std::int64_t count, const IndexSet& from, const IndexSet& to) {
  Piece piece{from.position(run.first), to.position(run.first), 0, 0, count, run.length};
  if (count > 1) {
    piece.from_step = from.position(run.first + run.period) - piece.from;
    piece.to_step = to.position(run.first + run.period) - piece.to;
  }
  return piece;
}

/// The pieces of one interval: one where both sides step evenly, else maximal stretches that do.
void add_pieces(const Interval& run, const IndexSet& from, const IndexSet& to, std::vector<Piece>& pieces) {
  if (run.count == 1 || (steps_evenly(from, run) && steps_evenly(to, run))) {
    pieces.push_back(piece_of(run, run.count, from, to));
    return;
  }
  for (std::int64_t i = 0; i < run.count;) {
    Interval rest{run.first + i * run.period, run.length, run.period, run.count - i};
    Piece piece = piece_of(rest, std::min<std::int64_t>(rest.count, 2), from, to);
    while (piece.count < rest.count) {
      const std::int64_t next = rest.first + piece.count * rest.period;
      if (from.position(next) != piece.from + piece.count * piece.from_step) break;
      if (to.position(next) != piece.to + piece.count * piece.to_step) break;
      ++piece.count;
    }
    pieces.push_back(piece);
    i += piece.count;
  }
}

void add_loops(const Piece& piece, std::int64_t from_stride, std::int64_t to_stride,
               kernels::StridedCopy& nest) {
  nest.from_offset += piece.from * from_stride;
  nest.to_offset += piece.to * to_stride;
  nest.loops.push_back({piece.count, piece.from_step * from_stride, piece.to_step * to_stride});
  nest.loops.push_back({piece.length, from_stride, to_stride});
}

}  // namespace

Side side_of(const Operand& operand, int rank, const Strides& own_strides, std::int64_t item_bytes) {
  Side side{operand.layout.region(rank), operand.dense ? operand.local_strides(rank) : own_strides, 0};
  for (std::int64_t& stride : side.byte_strides) stride *= item_bytes;
  return side;
}

Side packed_side(const Region& region, const Extents& axis_order, std::int64_t item_bytes,
                 std::int64_t pitch) {
  const Shape shape = region.shape();
  Side side{region, Extents::filled(shape.size(), 1), 0};
  std::int64_t step = item_bytes;
  for (int i = shape.size() - 1; i >= 0; --i) {
    const int dimension = static_cast<int>(axis_order[i]);
    side.byte_strides[dimension] = step;
    const bool is_line = i == shape.size() - 1;
    step *= is_line && pitch > 0 ? pitch : shape[dimension];
  }
  return side;
}

Side side_of(const Plan& plan, const Place& place, const Region& region, const Strides& own_strides,
             std::int64_t item_bytes) {
  const Buffer& buffer = plan.buffers[static_cast<std::size_t>(place.buffer)];
  Side side = buffer.operand ? side_of(*buffer.operand, place.rank, own_strides, item_bytes)
                             : packed_side(region, place.axis_order, item_bytes, place.pitch);
  side.byte_offset = place.offset;
  return side;
}

std::vector<kernels::StridedCopy> lower(const Region& region, const Side& from, const Side& to,
                                        std::int64_t item_bytes) {
  std::vector<kernels::StridedCopy> result;
  if (region.empty()) return result;
  const std::size_t dimensions = region.sets.size();
  std::vector<std::vector<Piece>> pieces(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    for (const Interval& run : region.sets[d].intervals()) {
      add_pieces(run, from.owned.sets[d], to.owned.sets[d], pieces[d]);
    }
  }
  // Every combination of one piece per dimension is one nest.
  std::vector<std::size_t> choice(dimensions, 0);
  for (bool more = true; more;) {
    kernels::StridedCopy nest{item_bytes, from.byte_offset, to.byte_offset, {}};
    for (std::size_t d = 0; d < dimensions; ++d) {
      const int dimension = static_cast<int>(d);
      add_loops(pieces[d][choice[d]], from.byte_strides[dimension], to.byte_strides[dimension], nest);
    }
    result.push_back(kernels::simplify(std::move(nest)));
    more = false;
    for (std::size_t d = dimensions; d-- > 0 && !more;) {
      more = ++choice[d] < pieces[d].size();
      if (!more) choice[d] = 0;
    }
  }
  return result;
}

std::vector<kernels::StridedCopy> lower(const Plan& plan, const Step& step,
                                        const std::vector<Strides>& strides) {
  const std::int64_t item = planning::item_bytes(plan, step);
  const auto side = [&](const Place& place) {
    return side_of(plan, place, step.region, strides[static_cast<std::size_t>(place.buffer)], item);
  };
  const Side to = side(step.to);
  const bool fills = step.kind == StepKind::fill;
  std::vector<kernels::StridedCopy> nests = lower(step.region, fills ? to : side(step.from), to, item);
  if (fills) std::ranges::transform(nests, nests.begin(), kernels::destination_of);
  return nests;
}

std::vector<std::vector<kernels::StridedCopy>> lower_moves(const Plan& plan,
                                                           const std::vector<Strides>& strides) {
  std::vector<std::vector<kernels::StridedCopy>> moves(plan.steps.size());
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (planning::is_copy(plan.steps[i].kind)) moves[i] = lower(plan, plan.steps[i], strides);
  }
  return moves;
}

}  // namespace partita::execution
