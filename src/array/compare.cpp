#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <partita/redistribute.hpp>
#include <vector>

#include "array/array_name.hpp"
#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "array/pairs.hpp"
#include "array/pieces.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/visit_dtype.hpp"
#include "device/device_synchronization.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {
namespace {

/// What one rank found in its part.
struct Finding {
  std::int64_t differing = 0;
  double largest = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
};

template <class T>
double distance(T a, T b) {
  if constexpr (is_small_float_type<T>) {
    return distance(to_float(a), to_float(b));
  } else if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int)) {
    return std::abs(a - b);
  } else if constexpr (std::is_integral_v<T>) {
    // Of large integers doubles would be the same.
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<double>(a > b ? x - y : y - x);
  } else {
    const double difference = static_cast<double>(std::abs(a - b));
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
  }
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Compares a piece of `b`, which has the same layout as `a`, with that of `a`.
template <class T>
void compare_pieces(const View& a, const View& b, const Extents& lower, const Array& whole, Finding& finding,
                    std::vector<T>& values) {
  const int rank = whole.context_state()->rank();
  values.clear();  // of b, in the order of rows
  arrays::for_each_row(b, lower, whole.layout(), rank, [&](const arrays::ElementRow& row) {
    row.visit<T>([&](std::int64_t, T& element) { values.push_back(element_at(&element)); });
  });
  std::size_t next = 0;
  arrays::for_each_row(a, lower, whole.layout(), rank, [&](const arrays::ElementRow& row) {
    row.visit<T>([&](std::int64_t number, T& element) {
      const T one = element_at(&element), other = values[next++];
      if (same_bits(one, other)) return;
      ++finding.differing;
      finding.largest = std::max(finding.largest, distance(one, other));
      finding.first = std::min(finding.first, number);
    });
  });
}

using ComparePieces = std::function<void(const View& a, const View& b, const Extents& lower)>;

void compare_parts(const Array& a, const Array& b, const ComparePieces& compare) {
  ContextState& context = *a.context_state();
  arrays::HostPiece of_a, of_b;
  arrays::for_each_piece(a.local(), arrays::piece_bytes, [&](const Extents& lower, const Extents& extents) {
    compare(of_a.bring(context, arrays::piece_of(a.local(), lower, extents)),
            of_b.bring(context, arrays::piece_of(b.local(), lower, extents)), lower);
  });
}

Finding join(const std::vector<Finding>& findings) {
  Finding all;
  for (const Finding& one : findings) {
    all.differing += one.differing;
    all.largest = std::max(all.largest, one.largest);
    all.first = std::min(all.first, one.first);
  }
  return all;
}

void check_comparable(const Array& a, const Array& b) {
  arrays::check_same_context("compare", a, "one array", b, "the other one");
  check(a.shape() == b.shape(), "compare: the shapes differ: {} and {}", to_string(a.shape()),
        to_string(b.shape()));
  check(a.dtype() == b.dtype(), "compare: the dtypes differ: {} and {}", name(a.dtype()), name(b.dtype()));
  for (const Array* one : {&a, &b}) arrays::check_has_values("compare", *one);
}

}  // namespace

Comparison compare(const Array& a, const Array& b, std::optional<Stream> stream) {
  ContextState& context = *a.context_state();
  const auto on_device = [](const Array& array) { return array.local().space == MemorySpace::device; };
  context.require_usable("compare");
  runtime::collectively(context, "compare", [&]() -> std::vector<Fact> {
    check_comparable(a, b);
    const bool some_on_device = on_device(a) || on_device(b);
    if (stream) {
      arrays::require_stream_of_device("compare", some_on_device, *stream);
      devices::follow(context, "compare", *stream);
    }
    if (some_on_device) devices::require_no_capture(context, "compare");
    return {{"arrays", fmt::format("{} and {}", arrays::name_of(a), arrays::name_of(b))}};
  });
  const bool together = a.layout() == b.layout() || a.layout().equivalent(b.layout());
  const Array moved = together ? b : redistribute(b, a.layout());
  Finding mine;
  runtime::check_or_tell_all(context, "compare", [&] {
    if (!arrays::is_first_holder(a.layout(), context.rank())) return;
    visit_dtype(a.dtype(), [&](auto tag) {
      std::vector<typename decltype(tag)::type> values;
      compare_parts(a, moved, [&](const View& here, const View& there, const Extents& lower) {
        compare_pieces(here, there, lower, a, mine, values);
      });
    });
  });
  const Finding all = join(runtime::exchange_values(context, "compare", mine));
  Comparison result{all.differing == 0, all.differing, all.largest, {}};
  if (!result.equal) {
    std::int64_t rest = all.first;
    for (const std::int64_t stride : dense_strides(a.shape())) {
      result.first_difference.push_back(rest / stride);
      rest %= stride;
    }
  }
  return result;
}

}  // namespace partita
