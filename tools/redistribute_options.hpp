// The words of a redistribution: methods and axes as text.
#pragma once

#include <partita/redistribute.hpp>
#include <string>
#include <vector>

namespace partita::tools {

/// "automatic", "staged", ... Throws UsageError that lists what there is.
RedistributeMethod parse_redistribute_method(const std::string& text);

/// Extent i of the result is shape[axes[i]]; no axes: the shape itself. Throws UsageError: there is no such
/// axis.
Shape permuted(const Shape& shape, const std::vector<int>& axes);

}  // namespace partita::tools
