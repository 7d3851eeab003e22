// Positions of the elements of a region: sums of one term per dimension.
#pragma once

#include <partita/layout.hpp>
#include <partita/work.hpp>
#include <vector>

namespace partita::verification {

/// All elements of an array.
Region whole_region(const Shape& shape);

/// The row-major numbers in an array of `shape` of a region's elements, in row-major order of the region,
/// which must be inside the array.
std::vector<std::int64_t> element_numbers(const Region& region, const Shape& shape);

/// The positions of a region's elements in an array of the elements of `whole`, which must contain the
/// region.
std::vector<std::int64_t> positions(const Region& region, const Region& whole, const Strides& strides);
bool is_inside(const Region& region, const Region& whole);

/// The slots of a region packed at `place` (its axis order and pitch), from slot `base` on, `step` slots per
/// element.
std::vector<std::int64_t> packed(const Region& region, const Place& place, std::int64_t base,
                                 std::int64_t step);

/// The index that has the row-major number.
Index index_of(std::int64_t number, const Shape& shape);

/// "(3,4)".
std::string describe_element(std::int64_t number, const Shape& shape);

}  // namespace partita::verification
