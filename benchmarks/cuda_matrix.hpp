// The matrices that are redistributed between GPUs.
#pragma once

#include <partita/array.hpp>
#include <string>

namespace partita::benchmarks {

/// Nearly square: rows of 32 KiB and more from peer to peer where the matrix is large. A power of two rows.
Shape matrix_of(std::int64_t elements);

/// Throws Error where this is not what `fill_random(array, 1)` gives: a benchmark of wrong numbers is worth
/// nothing. Collective.
void check_matrix(const Array& result, const std::string& name);

}  // namespace partita::benchmarks
