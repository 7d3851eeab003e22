// to[...] = reduce(to[...], from[...])
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/number_rules.hpp"
#include "kernels/host/number_runs.hpp"
#include "kernels/host/walk.hpp"

namespace partita::kernels {
namespace {

template <class Operation>
struct OfTruth {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Operation{}(a != 0, b != 0));
  }
};

template <class Operation>
struct OfBits {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Operation{}(a, b));
  }
};

// How an element is stored, and the type in which it is reduced.
template <class T>
struct Plain {
  using Stored = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};

struct Boolean {
  using Stored = std::uint8_t;
  static std::uint8_t load(std::uint8_t value) { return value != 0; }
  static std::uint8_t store(std::uint8_t value) { return value != 0; }
};

template <class Small>
struct ThroughFloat {
  using Stored = Small;
  static float load(Small value) { return to_float(value); }
  static Small store(float value) { return from_float<Small>(value); }
};

template <class Element, class Operation>
void reduce_one(const std::byte* from, std::byte* to) {
  typename Element::Stored a;
  typename Element::Stored b;
  std::memcpy(&a, to, sizeof a);
  std::memcpy(&b, from, sizeof b);
  a = Element::store(Operation{}(Element::load(a), Element::load(b)));
  std::memcpy(to, &a, sizeof a);
}

// Small floats are widened, reduced and rounded by the block.
template <class Small, class Operation>
void reduce_small(const std::byte* from, std::byte* to, std::int64_t count) {
  constexpr std::int64_t block = 256, size = sizeof(Small);
  float a[block];
  float b[block];
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t length = std::min(block, count - first);
    widen(to + size * first, a, length, Small{});
    widen(from + size * first, b, length, Small{});
    for (std::int64_t i = 0; i < length; ++i) a[i] = Operation{}(a[i], b[i]);
    narrow(a, to + size * first, length, Small{});
  }
}

// The sides do not overlap, so the contiguous loop may be vectorised.
template <class Element, class Operation>
void reduce_run(const std::byte* __restrict from, std::byte* __restrict to, std::int64_t count) {
  using Stored = typename Element::Stored;
  if constexpr (is_small_float_type<Stored>) {
    reduce_small<Stored, Operation>(from, to, count);
  } else {
    constexpr auto size = static_cast<std::int64_t>(sizeof(Stored));
    for (std::int64_t i = 0; i < count; ++i) reduce_one<Element, Operation>(from + i * size, to + i * size);
  }
}

template <class Element, class Operation>
void reduce_nest(const StridedCopy& nest, const std::byte* from, std::byte* to) {
  const std::int64_t run = nest.item_bytes / static_cast<std::int64_t>(sizeof(typename Element::Stored));
  for_each_row(nest, from, to, [&](const std::byte* f, std::byte* t, const CopyLoop& rows) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::byte* source = f + i * rows.from_stride;
      std::byte* destination = t + i * rows.to_stride;
      if (run == 1) {
        reduce_one<Element, Operation>(source, destination);
      } else {
        reduce_run<Element, Operation>(source, destination, run);
      }
    }
  });
}

using Kernel = void (*)(const StridedCopy&, const std::byte*, std::byte*);

template <class Element>
Kernel kernel_of(Reduction reduction) {
  constexpr bool whole = std::is_integral_v<typename Element::Stored>;
  if (reduction == Reduction::min) return reduce_nest<Element, Min>;
  if (reduction == Reduction::max) return reduce_nest<Element, Max>;
  if (reduction == Reduction::product) return reduce_nest<Element, Product>;
  if constexpr (whole) {
    if (reduction == Reduction::logical_and) return reduce_nest<Element, OfTruth<std::logical_and<>>>;
    if (reduction == Reduction::logical_or) return reduce_nest<Element, OfTruth<std::logical_or<>>>;
    if (reduction == Reduction::logical_xor) return reduce_nest<Element, OfTruth<std::not_equal_to<>>>;
    if (reduction == Reduction::bit_and) return reduce_nest<Element, OfBits<std::bit_and<>>>;
    if (reduction == Reduction::bit_or) return reduce_nest<Element, OfBits<std::bit_or<>>>;
    if (reduction == Reduction::bit_xor) return reduce_nest<Element, OfBits<std::bit_xor<>>>;
  }
  return reduce_nest<Element, Sum>;
}

// Of 0 and 1: or = max, and = min, xor = inequality.
Kernel boolean_kernel(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
    case Reduction::max:
    case Reduction::logical_or:
    case Reduction::bit_or:
      return reduce_nest<Boolean, Max>;
    case Reduction::logical_xor:
    case Reduction::bit_xor:
      return reduce_nest<Boolean, OfBits<std::bit_xor<>>>;
    default:
      return reduce_nest<Boolean, Min>;
  }
}

Kernel kernel_for(Dtype dtype, Reduction reduction) {
  return visit_dtype(dtype, [&](auto tag) -> Kernel {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      return boolean_kernel(reduction);
    } else if constexpr (is_small_float_type<T>) {
      return kernel_of<ThroughFloat<T>>(reduction);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return kernel_of<Plain<T>>(reduction);
    } else {  // a complex sum is the sum of twice as many real numbers
      if (reduction == Reduction::product) return reduce_nest<Plain<T>, Product>;
      return reduce_nest<Plain<typename T::value_type>, Sum>;
    }
  });
}

}  // namespace

void accumulate(const StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from, void* to) {
  check(is_defined(reduction, dtype), "{} is not defined for {}", name(reduction), name(dtype));
  check(nest.item_bytes % size_of(dtype) == 0, "items of {} bytes are not whole elements of {}",
        nest.item_bytes, name(dtype));
  if (nest.item_bytes == 0) return;
  kernel_for(dtype, reduction)(nest, static_cast<const std::byte*>(from) + nest.from_offset,
                               static_cast<std::byte*>(to) + nest.to_offset);
}

}  // namespace partita::kernels
