// What a stage can store in the memory of its owners, and in which rows.
#pragma once

#include <optional>

#include "fft/scheme.hpp"

namespace partita::fourier {

/// The axis of the stage along which data for layout `to` can be transformed last and stored at its
/// destination: of the suitable ones the slowest in memory, so that the other transforms are along faster
/// axes. Empty: it must be copied. The same on every rank.
std::optional<int> stored_axis(const Problem& problem, const Stage& stage, const Layout& to);

/// Whether the last stage may store its results: in the result or, if peers cannot access that, in a buffer
/// from which they are copied.
inline bool may_store_result(const Problem& problem) {
  return problem.reachable_output || problem.options.scratch_bytes == 0;
}

/// Whether the data that `stage` stores in arrays of layout `to` consists of whole words of 16 bytes.
/// Otherwise the kernel moves single numbers, or rows need padding: both are slower than copies
/// (docs/performance.md).
bool stores_whole_words(const Problem& problem, const Stage& stage, const Layout& to);

/// Whether a stage consists of lines that the kernel transforms.
bool is_of_kernel(const Problem& problem, const Stage& stage);

/// The axis of the stage that is transformed together with `stored`, plane by plane: the only other axis,
/// contiguous, real or complex, if both lengths suit the kernel of planes, and there are enough planes to
/// store one's columns while the next one's rows are transformed. Empty: the axes are transformed in
/// sequence. The same on every rank.
std::optional<int> axis_before_in_planes(const Problem& problem, const Stage& stage, int stored);

/// The parts in which what a stage has transformed leaves for an array of layout `to`, each while the next is
/// transformed: by stores of its last axis, or by copies.
redistribution::Parts leaving_parts_of(const Problem& problem, const Stage& stage, bool by_stores,
                                       const Layout& to);
/// The number of parts that overlap with stores in the cost model: planes count as any number.
int parts_beside_stores(const Problem& problem, const Stage& stage, int stored, const Layout& to);

/// Rows of an array between stages, which are whole on every rank, with room behind them, so that they begin
/// at multiples of 128 bytes; the layout itself where they fill pieces of 32 bytes anyway, as links and
/// memory move them. Half spectra have an odd number of elements a row.
Layout with_room_in_rows(const Problem& problem, const Layout& layout, Dtype dtype);

/// The contiguous axis.
int fastest_axis(const Problem& problem);
/// Of what stands between two stages.
Dtype dtype_between(const Problem& problem);

}  // namespace partita::fourier
