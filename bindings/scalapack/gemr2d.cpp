// p?gemr2d: sub(B) = sub(A), between grids that may overlap in part or not at all.
#include <algorithm>
#include <array>
#include <cstring>
#include <partita/error.hpp>
#include <partita/redistribute.hpp>

#include "call.hpp"
#include "matrix.hpp"

namespace partita::scalapack {
namespace {

/// The arguments, indices counted from 1. On a process outside the grid of A (or B), all of A's (or B's) but
/// the context in its descriptor, -1, are never looked at.
struct Gemr2dCall {
  int m;
  int n;
  const void* a;
  int ia;
  int ja;
  const int* desca;
  void* b;
  int ib;
  int jb;
  const int* descb;
  int context;  ///< of a grid that holds all processes of A's and B's
};

constexpr MatrixPositions a_positions{1, 2, 6};
constexpr MatrixPositions b_positions{1, 2, 10};

/// One of the two matrices as this process knows it.
struct Side {
  SubMatrix matrix;
  Coordinates grid;        ///< of the matrix; outside: this process knows nothing else of it
  std::vector<int> ranks;  ///< of the matrix's processes in the whole grid

  bool known() const { return grid.inside(); }
};

Side side_of(const int* descriptor, std::int64_t row, std::int64_t column, const Gemr2dCall& call) {
  Side side;
  if (descriptor[1] >= 0) side.grid = Coordinates::of(descriptor[1]);
  if (!side.known()) return side;
  side.matrix = {read_descriptor(descriptor), row - 1, column - 1, call.m, call.n};
  return side;
}

int wrong_argument(const Gemr2dCall& call, const Side& a, const Side& b) {
  Arguments arguments;
  if (call.m < 0) arguments.refuse(a_positions.rows);
  if (call.n < 0) arguments.refuse(a_positions.columns);
  const auto check = [&](const Side& side, const MatrixPositions& positions) {
    if (!side.known()) return;
    arguments.check(side.matrix, positions, side.matrix.descriptor.context, side.grid);
    // There is no copying to or from all processes of a row or column at once.
    if (side.matrix.descriptor.rows.source < 0) arguments.refuse(positions.descriptor, Entry::row_source);
    if (side.matrix.descriptor.columns.source < 0)
      arguments.refuse(positions.descriptor, Entry::column_source);
  };
  check(a, a_positions);
  check(b, b_positions);
  return arguments.position();
}

/// What processes outside its grid must know of a side, from each of its processes.
struct Told {
  bool known = false;
  int place = 0;  ///< of the process in the grid
  Coordinates grid;
  SubMatrix matrix;
};
using Numbers = std::array<std::int64_t, (2 * sizeof(Told) + 7) / 8>;  // of both sides

Told told_of(const Side& side) {
  return {side.known(), side.grid.row * side.grid.columns + side.grid.column, side.grid, side.matrix};
}

/// From what all processes tell: who is in the side's grid, and what they know.
void complete(Side& side, const std::vector<Told>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Told& told = all[rank];
    if (!told.known) continue;
    const auto size = static_cast<std::size_t>(told.grid.rows) * static_cast<std::size_t>(told.grid.columns);
    if (side.ranks.size() != size) side.ranks.assign(size, -1);
    side.ranks[static_cast<std::size_t>(told.place)] = static_cast<int>(rank);
    if (side.known()) continue;
    side.matrix = told.matrix;
    side.grid.rows = told.grid.rows;
    side.grid.columns = told.grid.columns;
  }
  if (side.ranks.empty() || std::count(side.ranks.begin(), side.ranks.end(), -1) > 0)
    throw ArgumentError("the last context must hold all processes of the matrices' contexts");
}

/// The grid of each side has as many processes as the whole, so everybody is in both and knows all. All
/// processes see alike whether it is so.
bool everybody_knows(const Side& a, const Side& b, const Grid& whole) {
  const auto holds_all = [&](const Side& side) {
    return side.known() && side.grid.rows * side.grid.columns == whole.processes();
  };
  return holds_all(a) && holds_all(b);
}

/// Where not everybody knows all, the processes tell each other.
void complete(Side& a, Side& b, Grid& whole) {
  if (everybody_knows(a, b, whole)) {
    const auto ranks = [&](const Side& side) {
      return whole.ranks_of(Grid::of(side.matrix.descriptor.context, side.grid));
    };
    a.ranks = ranks(a);
    b.ranks = ranks(b);
    return;
  }
  const std::array<Told, 2> mine{told_of(a), told_of(b)};
  Numbers numbers{};
  std::memcpy(numbers.data(), &mine, sizeof mine);
  const std::vector<std::int64_t> gathered = whole.gather(numbers);
  std::vector<Told> of_a, of_b;
  for (std::size_t at = 0; at < gathered.size(); at += numbers.size()) {
    std::array<Told, 2> told;
    std::memcpy(static_cast<void*>(&told), &gathered[at], sizeof told);
    of_a.push_back(told[0]);
    of_b.push_back(told[1]);
  }
  complete(a, of_a);
  complete(b, of_b);
}

/// The side's sub-matrix as an array of the whole grid's context; its layout gives nothing to processes
/// outside.
Array array_of(Grid& whole, const Side& side, const Layout& layout, void* local, Dtype dtype) {
  const Layout embedded = layout.embedded(side.ranks, whole.processes());
  const View view =
      side.known() ? view_of(side.matrix, side.grid, layout, local, dtype)
                   : View::dense(nullptr, dtype, embedded.local_shape(whole.rank()), Order::column_major);
  return wrap(whole.context(), view, operand_of(embedded, dtype));
}

/// [from, from + length) of one dimension of both sub-matrices.
struct Piece {
  std::int64_t from = 0;
  std::int64_t length = 0;
};

/// In one piece, unless a first block that is longer than the others ends inside: then it ends a piece, since
/// blocks of one length describe either side of its end.
std::vector<Piece> pieces(const Deal& a, std::int64_t a_from, const Deal& b, std::int64_t b_from,
                          std::int64_t length) {
  std::vector<std::int64_t> ends{length};
  const auto cut = [&](const Deal& deal, std::int64_t from) {
    const std::int64_t left = deal.first_block - from;
    if (deal.first_block > deal.block && left > 0 && left < length) ends.push_back(left);
  };
  cut(a, a_from);
  cut(b, b_from);
  std::ranges::sort(ends);
  std::vector<Piece> result;
  for (std::int64_t begin = 0; const std::int64_t end : ends) {
    if (end > begin) result.push_back({begin, end - begin});
    begin = end;
  }
  return result;
}

Side part_of(const Side& side, const Piece& rows, const Piece& columns) {
  Side part = side;
  part.matrix.row += rows.from;
  part.matrix.column += columns.from;
  part.matrix.rows = rows.length;
  part.matrix.columns = columns.length;
  return part;
}

/// sub(B) = sub(A), where blocks of one length describe both.
void copy(Grid& whole, const Side& a, const Side& b, const Gemr2dCall& call, Dtype dtype) {
  const Layout from = layout_of(a.matrix, a.grid).value();
  const Layout to = layout_of(b.matrix, b.grid).value();
  // Wrapped memory is only read through the source.
  const Array source = array_of(whole, a, from, const_cast<void*>(call.a), dtype);
  Array destination = array_of(whole, b, to, call.b, dtype);
  redistribute(source, destination);
}

void copy_all(Grid& whole, const Side& a, const Side& b, const Gemr2dCall& call, Dtype dtype) {
  for (const Piece& rows :
       pieces(a.matrix.descriptor.rows, a.matrix.row, b.matrix.descriptor.rows, b.matrix.row, call.m)) {
    for (const Piece& columns : pieces(a.matrix.descriptor.columns, a.matrix.column,
                                       b.matrix.descriptor.columns, b.matrix.column, call.n)) {
      copy(whole, part_of(a, rows, columns), part_of(b, rows, columns), call, dtype);
    }
  }
}

/// The next routine reads all descriptors as those of 9 entries.
bool next_reads(const Side& a, const Side& b) {
  return a.matrix.descriptor.type != Descriptor::first_block &&
         b.matrix.descriptor.type != Descriptor::first_block;
}

bool is_worth_it(const Side& a, const Side& b, Grid& whole, Dtype dtype) {
  if (!next_reads(a, b)) return true;
  const auto& [descriptor, row, column, rows, columns] = a.matrix;
  const double bytes = 1.0 * static_cast<double>(rows * columns * size_of(dtype)) / whole.processes();
  CallKey key;
  key.add(static_cast<int>(dtype)).add(a.matrix).add(b.matrix);
  for (const Side* side : {&a, &b}) key.add(side->grid.rows).add(side->grid.columns);
  return whole.seen_calls().worth(bytes, copy_threshold, key);
}

template <class HandOn>
void checked_gemr2d(const Routine& routine, Dtype dtype, const Gemr2dCall& call, HandOn&& hand_on) {
  if (call.m == 0 || call.n == 0) return;
  const Coordinates coordinates = Coordinates::of(call.context);
  if (!coordinates.inside()) return;
  Side a = side_of(call.desca, call.ia, call.ja, call);
  Side b = side_of(call.descb, call.ib, call.jb, call);
  const int wrong = wrong_argument(call, a, b);
  if (wrong != 0) return report_argument(call.context, routine.name, wrong);
  Grid& whole = Grid::of(call.context, coordinates);
  if (everybody_knows(a, b, whole) && !is_worth_it(a, b, whole, dtype) && hand_on()) return;
  complete(a, b, whole);
  // What some pieces have copied already, the next routine copies again.
  compute_or_hand_on([&] { copy_all(whole, a, b, call, dtype); },
                     [&] { return next_reads(a, b) && hand_on(); });
}

/// Collective over the grid of `call.context`, blocking.
template <class T>
void gemr2d(const Routine& routine, const Gemr2dCall& call) noexcept {
  const auto next = [&] {
    return hand_on(routine, call.m, call.n, static_cast<const T*>(call.a), call.ia, call.ja, call.desca,
                   static_cast<T*>(call.b), call.ib, call.jb, call.descb, call.context);
  };
  run(call.context, routine, [&] { checked_gemr2d(routine, dtype_of<T>(), call, next); });
}

}  // namespace
}  // namespace partita::scalapack

// Both forms forward to the C form: ScaLAPACK's Fortran form calls the C one by its name, which may be ours.
// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PARTITA_GEMR2D(letter, LETTER, T)                                                                    \
  extern "C" PARTITA_API void Cp##letter##gemr2d(int m, int n, const T* a, int ia, int ja, const int* desca, \
                                                 T* b, int ib, int jb, const int* descb, int context) {      \
    partita::scalapack::gemr2d<T>({"P" #LETTER "GEMR2D", "Cp" #letter "gemr2d"},                             \
                                  {m, n, a, ia, ja, desca, b, ib, jb, descb, context});                      \
  }                                                                                                          \
  extern "C" PARTITA_API void p##letter##gemr2d_(const int* m, const int* n, const T* a, const int* ia,      \
                                                 const int* ja, const int* desca, T* b, const int* ib,       \
                                                 const int* jb, const int* descb, const int* context) {      \
    partita::scalapack::gemr2d<T>({"P" #LETTER "GEMR2D", "Cp" #letter "gemr2d"},                             \
                                  {*m, *n, a, *ia, *ja, desca, b, *ib, *jb, descb, *context});               \
  }
// NOLINTEND(bugprone-macro-parentheses)

PARTITA_EACH_DTYPE(PARTITA_GEMR2D)
PARTITA_GEMR2D(i, I, std::int32_t)
