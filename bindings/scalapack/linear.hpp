// What the routines of linear algebra share: checks, and the decision who computes a call.
#pragma once

#include <partita/array.hpp>
#include <span>

#include "call.hpp"
#include "matrix.hpp"

namespace partita::scalapack {

/// A sub-matrix among the arguments: the local array, IA, JA and the descriptor.
template <class T>
struct MatrixArgument {
  T* local;
  const int* row;
  const int* column;
  const int* descriptor;

  int context() const { return descriptor[1]; }
  SubMatrix matrix(int rows, int columns) const {
    return {read_descriptor(descriptor), *row - 1, *column - 1, rows, columns};
  }
  /// On the context of its grid, which must be able to describe it (see LinearCall::add).
  Array array(Grid& grid, const SubMatrix& matrix) const {
    return array_of(grid, matrix, *layout_of(matrix, grid.coordinates()),
                    const_cast<std::remove_const_t<T>*>(local), dtype_of<std::remove_const_t<T>>());
  }
};

/// 'U' and 'L', in either case; nothing for another letter.
std::optional<bool> is_upper(char letter);

/// The largest number of all processes of a grid in each place. Numbers of 0 and above. Collective.
void take_largest(int blacs_context, std::span<int> numbers);

/// A call of a routine of linear algebra. First its arguments are added; then all processes decide together
/// whether they compute it or call the next routine of its name: ScaLAPACK gets what is small, what it
/// refuses, and what no layout of ours describes.
class LinearCall {
 public:
  /// `info`: the routine's last argument; null if it has none.
  LinearCall(const Routine& routine, int blacs_context, int* info);

  bool inside() const { return grid_.inside(); }
  int processes() const { return grid_.rows * grid_.columns; }
  Grid& grid() const { return Grid::of(context_, grid_); }
  const Coordinates& coordinates() const { return grid_; }
  /// Of what tells calls apart.
  CallKey& key() { return key_; }

  /// The argument at this position is as ScaLAPACK wants it.
  void require(bool holds, int argument) {
    if (!holds) arguments_.refuse(argument);
  }
  /// Whether all arguments so far are.
  bool right() const { return arguments_.position() == 0; }
  /// A sub-matrix, with ScaLAPACK's checks of it.
  void add(const SubMatrix& matrix, const MatrixPositions& positions);
  /// For a routine of LAPACK's, as opposed to the PBLAS: descriptors of 9 entries, without replication.
  void add_plain(const SubMatrix& matrix, const MatrixPositions& positions);
  /// As above, with square blocks, of which one begins where the sub-matrix does.
  void add_factorized(const SubMatrix& matrix, const MatrixPositions& positions);
  /// Right-hand sides of a matrix: their rows are distributed as its rows.
  void add_right_sides(const SubMatrix& matrix, const MatrixPositions& positions, const SubMatrix& a);

  /// `size`: multiplications of all processes, without regard to the dtype; 0: nothing is to be computed.
  /// `ours` is collective, and throws MemoryError, UnsupportedError or SingularError before it has written
  /// anything; `next()` calls the next routine, and returns false if there is none. Collective.
  template <class Ours, class Next>
  void compute(double size, double smallest, Dtype dtype, const Ours& ours, const Next& next) {
    compute_if(is_large(share(size, dtype), smallest), size, ours, next);
  }
  /// As above; a call that comes once only must be larger.
  template <class Ours, class Next>
  void compute(double size, const Threshold& threshold, Dtype dtype, const Ours& ours, const Next& next) {
    const double own = share(size, dtype);
    compute_if(inside() && grid().seen_calls().worth(own, threshold, key_), size, ours, next);
  }

 private:
  double share(double size, Dtype dtype) const { return size * (is_complex(dtype) ? 4 : 1) / processes(); }
  /// Whether no process has anything against computing the call here, and all make the same call.
  bool agreed() const;
  /// There is no next routine.
  void refuse() const;

  template <class Ours, class Next>
  void compute_if(bool large, double size, const Ours& ours, const Next& next) {
    const bool last = next_symbol(routine_.symbol) == nullptr;
    if (!inside() || !(size > 0) || (!large && !last)) {
      if (!next()) refuse();
      return;
    }
    if (!agreed()) {
      if (!next()) refuse();
      return;
    }
    try {
      ours();
      ++calls.computed;
    } catch (const MemoryError&) {
      if (!next()) throw;
    } catch (const UnsupportedError&) {
      if (!next()) throw;
    } catch (const SingularError&) {
      if (!next()) throw;
    }
  }

  Routine routine_;
  int context_;
  int* info_;
  Coordinates grid_;
  Arguments arguments_;
  CallKey key_;
};

/// visit(i, local) for each index from + i, i < count, that the process of this coordinate owns, with its
/// local index.
template <class Visit>
void for_each_owned(const Deal& deal, std::int64_t from, std::int64_t count, int coordinate, int processes,
                    Visit&& visit) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int owner = deal.owner(from + i, processes);
    if (owner < 0 || owner == coordinate) visit(i, deal.owned_below(from + i, coordinate, processes));
  }
}

}  // namespace partita::scalapack
