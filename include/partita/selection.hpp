// Selection among the elements of one rank. Local; on devices stream-ordered, unless it says that it blocks.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/stream.hpp>

namespace partita {

/// The positions of what is true in this rank's part of an array of booleans, as one sequence in row-major
/// order: an array [how many] of i64, as `empty_beside` makes it. The part must be dense and row-major.
/// Blocks on devices, which count first. Local.
PARTITA_API Array true_positions(const Array& mask, std::optional<Stream> stream = {});

/// Row i of the destination's part, along its first dimension, is row rows[i] of the source's; `rows` is of
/// i64. Positions that the source does not have are undefined behaviour: check them first. All parts must be
/// dense and row-major, and the destination must not overlap the others. ArgumentError for other dtypes and
/// extents. Local.
PARTITA_API void gather_part(const Array& source, const Array& rows, Array& destination,
                             std::optional<Stream> stream = {});

}  // namespace partita
