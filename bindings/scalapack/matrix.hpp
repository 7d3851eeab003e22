// Sub-matrices of ScaLAPACK as Partita's arrays.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <span>

#include "grid.hpp"

namespace partita::scalapack {

/// The layout of a sub-matrix over the processes of its grid, numbered row by row. Nothing where blocks of
/// one length do not describe it: replicated (RSRC or CSRC of -1 on more than one process), or a first block
/// that is longer than the others, from inside which the sub-matrix reaches into them.
std::optional<Layout> layout_of(const SubMatrix& matrix, const Coordinates& grid);

/// Reports the entry of the descriptor, an argument of the routine, that says why there is no layout.
void report_unsupported(const char* routine, const SubMatrix& matrix, int descriptor);

/// This process's part of the sub-matrix in the local array of the whole matrix, column-major with LLD.
/// `grid` is the matrix's own.
View view_of(const SubMatrix& matrix, const Coordinates& grid, const Layout& layout, void* local,
             Dtype dtype);

/// What all processes know of such memory: ordinary, column-major, with gaps.
Operand operand_of(const Layout& layout, Dtype dtype);

/// The sub-matrix as an array on the context of its grid. No communication (but for the first call on the
/// grid).
Array array_of(Grid& grid, const SubMatrix& matrix, const Layout& layout, void* local, Dtype dtype);

}  // namespace partita::scalapack
