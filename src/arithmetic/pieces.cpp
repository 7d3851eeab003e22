#include "arithmetic/pieces.hpp"

namespace partita::arithmetic {
namespace {

void visit(const std::vector<Dimension>& dimensions, std::size_t next, const Offsets& at, Nest& loops,
           const std::function<void(const Offsets&, const Nest&)>& body) {
  if (next == dimensions.size()) return body(at, loops);
  const Dimension& dimension = dimensions[next];
  for (const Piece& piece : dimension.pieces) {
    Offsets here = at;
    kernels::ElementwiseLoop blocks{piece.count, {}}, within{piece.length, {}};
    for (std::size_t x = 0; x < here.size(); ++x) {
      here[x] += dimension.steps[x].offset(piece);
      blocks.strides[x] = dimension.steps[x].next(piece);
      within.strides[x] = dimension.steps[x].stride;
    }
    loops.push_back(blocks);
    loops.push_back(within);
    visit(dimensions, next + 1, here, loops, body);
    loops.resize(loops.size() - 2);
  }
}

/// Intervals that interleave have no common steps: run by run.
void add_runs(const IndexSet& set, const Interval& interval, std::vector<Piece>& pieces) {
  for (std::int64_t i = 0; i < interval.count; ++i) {
    const std::int64_t index = interval.first + i * interval.period;
    pieces.push_back({set.position(index), index, interval.length, interval.length, 1});
  }
}

}  // namespace

std::vector<Piece> pieces_of(const IndexSet& set) {
  std::vector<Piece> pieces;
  for (const Interval& interval : set.intervals()) {
    const std::int64_t position = set.position(interval.first);
    const std::int64_t last = interval.first + (interval.count - 1) * interval.period;
    if (set.position(last) == position + (interval.count - 1) * interval.length) {
      pieces.push_back({position, interval.first, interval.length, interval.period, interval.count});
    } else {
      add_runs(set, interval, pieces);
    }
  }
  return pieces;
}

std::vector<Piece> one_piece(std::int64_t extent) {
  return {{0, 0, extent, extent, 1}};
}

void for_each_nest(const std::vector<Dimension>& dimensions,
                   const std::function<void(const Offsets&, const Nest&)>& body) {
  Nest loops;
  visit(dimensions, 0, {}, loops, body);
}

}  // namespace partita::arithmetic
