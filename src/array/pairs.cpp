#include "array/pairs.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace partita {
namespace {

/// The bytes of the heap that the largest part of all ranks takes.
bool heap_places_meet(const Array& a, const Array& b) {
  const auto begin = [](const Array& array) { return array.state()->heap_offset; };
  const auto end = [&](const Array& array) {
    return begin(array) + array.layout().largest_local_size() * size_of(array.dtype());
  };
  return std::max(begin(a), begin(b)) < std::min(end(a), end(b));
}

}  // namespace

void arrays::check_context(std::string_view operation, const ContextState& context, std::string_view whose,
                           const Array& array, std::string_view what) {
  check(array.context_state().get() == &context,
        "{}: {} and {} belong to different contexts; make both in one context, or use embed or restrict_to "
        "if one context is a sub-group of the other",
        operation, whose, what);
}

void arrays::check_same_context(std::string_view operation, const Array& a, std::string_view what_a,
                                const Array& b, std::string_view what_b) {
  check_context(operation, *a.context_state(), what_a, b, what_b);
}

bool arrays::is_dense_on_heap(const Array& array) {
  const Operand& operand = array.state()->operand;
  return operand.residency == Residency::heap && operand.dense;
}

bool arrays::known_on_all_ranks(const Array& a, const Array& b) {
  return is_dense_on_heap(a) && is_dense_on_heap(b);
}

bool arrays::are_windows_of_one(const Array& a, const Array& b) {
  return a.valid() && b.valid() && a.state() != b.state() && a.state()->memory == b.state()->memory &&
         !known_on_all_ranks(a, b);
}

bool arrays::overlap(const Array& a, const Array& b) {
  if (a.state() == b.state()) return true;
  if (a.local().space != b.local().space) return false;
  return known_on_all_ranks(a, b) ? heap_places_meet(a, b) : overlap(a.local(), b.local());
}

}  // namespace partita
