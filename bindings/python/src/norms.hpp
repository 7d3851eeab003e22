// Whose the 1/N of a transform is, in NumPy's words.
#pragma once

#include <partita/fft.hpp>
#include <string_view>
#include <utility>

namespace partita::python {

inline constexpr std::pair<std::string_view, Norm> norms[] = {
    {"backward", Norm::backward}, {"ortho", Norm::ortho}, {"forward", Norm::forward}};

}  // namespace partita::python
