#include <partita/view.hpp>

#include "base/check.hpp"

namespace partita {

void detail::require_volume(const Shape& extents, std::size_t elements) {
  check(volume(extents) == static_cast<std::int64_t>(elements), "a view of {} on memory of {} elements",
        to_string(extents), elements);
}

}  // namespace partita
