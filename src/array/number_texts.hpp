// Elements as texts that stand below each other, as NumPy writes them.
#pragma once

#include <partita/dtype.hpp>
#include <string>
#include <vector>

namespace partita::arrays {

/// One text per element, all of one width. `elements`: the bytes of each. `precision`: of floating numbers,
/// the most digits behind the point. `alone`: of an array without dimensions.
std::vector<std::string> texts_of(Dtype dtype, const std::vector<std::string>& elements, int precision,
                                  bool alone);

}  // namespace partita::arrays
