// ScaLAPACK's array descriptors, of 9 and of 11 entries.
#pragma once

#include <cstdint>

namespace partita::scalapack {

/// How one dimension is dealt out: a first block to process `source`, then blocks of `block` to the next ones
/// in turn.
struct Deal {
  std::int64_t extent = 0;
  std::int64_t first_block = 1;
  std::int64_t block = 1;
  int source = 0;  ///< -1: every process has all of it

  /// Indices below `index` that the process of this coordinate owns.
  std::int64_t owned_below(std::int64_t index, int coordinate, int processes) const;
};

struct Descriptor {
  static constexpr int dense = 1;        ///< DTYPE of 9 entries: DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD
  static constexpr int first_block = 2;  ///< of 11: DTYPE, CTXT, M, N, IMB, INB, MB, NB, RSRC, CSRC, LLD

  int type = dense;
  int context = -1;
  Deal rows;
  Deal columns;
  std::int64_t leading = 1;  ///< LLD

  bool known() const { return type == dense || type == first_block; }
};

/// Of an unknown type: only type and context are read.
Descriptor read_descriptor(const int* entries);

/// Entries as arguments are numbered in errors: counted from 1 in the descriptor of 11, whichever was given.
enum class Entry : int {
  type = 1,
  context,
  rows,
  columns,
  first_row_block,
  first_column_block,
  row_block,
  column_block,
  row_source,
  column_source,
  leading,
};

}  // namespace partita::scalapack
