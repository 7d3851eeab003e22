// Elements at given positions in the order of all ranks' elements, and where sorted parts are cut there.
//
// The keys of the elements (kernels/host/order_keys.hpp) are found digit by digit, from the highest one: all
// candidates for a digit are counted at once in the sorted parts of the ranks, and one reduction adds the
// counts. This is a histogram sort [1] with probes that do not depend on the data, so its number of rounds is
// bounded and the parts have exactly the requested sizes. Equal elements are divided in the order of the
// ranks [2].
//
// [1] E. Solomonik, L. V. Kale: Highly scalable parallel sorting. IPDPS 2010.
// [2] P. J. Varman, S. D. Scheufler, B. R. Iyer, G. R. Ricard: Merging multiple lists on
//     hierarchical-memory multiprocessors. Journal of Parallel and Distributed Computing 12 (1991).
#pragma once

#include <functional>
#include <partita/array.hpp>
#include <partita/sorting.hpp>
#include <span>
#include <vector>

#include "kernels/host/order_keys.hpp"

namespace partita::arithmetic {

/// This rank's elements, sorted, in which keys are counted.
struct SortedPart {
  kernels::OrderKeys order;
  std::int64_t count = 0;
  /// found[i]: how many of them have keys below keys[i].
  std::function<void(std::span<const kernels::OrderKey> keys, std::int64_t* found)> count_below;
};

/// In host memory, dense; of any dtype but FP8.
SortedPart sorted_on_host(Dtype dtype, bool descending, const void* elements, std::int64_t count);
/// One sequence in device memory in ascending order, also if keys are those of the descending one. Of dtypes
/// that are sorted there.
SortedPart sorted_on_device(const Array& ascending, bool descending);

/// Of the elements at these positions, none beyond the last one, on every rank. Collective.
std::vector<kernels::OrderKey> keys_at(const Context& context, const SortedPart& part,
                                       std::span<const std::int64_t> positions);

/// See <partita/sorting.hpp>. `sizes`: the number of elements of each rank. Collective.
SortedCuts cut_parts(const Context& context, const SortedPart& part, std::span<const std::int64_t> positions,
                     std::span<const std::int64_t> sizes);

/// How many elements this rank sends to each rank, and how many it receives from each, where positions are
/// those at which the parts of the ranks begin, and the end of the last one.
struct ExchangedElements {
  std::vector<std::int64_t> sent, received;
  ExchangedElements(const Context& context, const SortedCuts& cuts);
};

/// How many elements each rank has. Collective.
std::vector<std::int64_t> sizes_of_ranks(const Context& context, std::int64_t mine);

/// Inside a collective check: positions that none are negative, and a dense view of one dimension in host
/// memory of a dtype with an order. Throws ArgumentError.
void check_sequence(std::string_view operation, std::string_view what, const View& view);
void check_positions(std::string_view operation, std::span<const std::int64_t> positions);
/// For ranks to compare.
std::string text_of(std::span<const std::int64_t> positions);

}  // namespace partita::arithmetic
