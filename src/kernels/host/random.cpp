#include "kernels/host/random.hpp"

#include <span>

#include "base/check.hpp"
#include "base/random_numbers.hpp"
#include "base/visit_dtype.hpp"

namespace partita::kernels {
namespace {

template <class T, class Make>
void generate_nest(std::span<const ElementwiseLoop> loops, T* to, std::int64_t number, const Make& make) {
  if (loops.empty()) {
    *to = make(number);
    return;
  }
  const ElementwiseLoop& loop = loops.front();
  const std::int64_t stride = loop.strides[RandomPass::to], step = loop.strides[RandomPass::number];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    if (loops.size() == 1) {
      to[i * stride] = make(number + i * step);
    } else {
      generate_nest(loops.subspan(1), to + i * stride, number + i * step, make);
    }
  }
}

template <class T>
T element_of(Randomness kind, std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return uniform_element<T>(bits);
  } else if constexpr (std::is_floating_point_v<T> || is_small_float_type<T>) {
    return kind == Randomness::normal ? normal_element<T>(bits) : uniform_element<T>(bits);
  } else {
    using Real = typename T::value_type;
    const auto parts = kind == Randomness::normal ? normal_parts<Real>(bits) : uniform_parts<Real>(bits);
    return {parts.first, parts.second};
  }
}

}  // namespace

void generate(const RandomPass& pass) {
  visit_dtype(pass.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::uint64_t seed = scramble(pass.seed);
    generate_nest(std::span(pass.loops), static_cast<T*>(pass.data), pass.first, [&](std::int64_t number) {
      return element_of<T>(pass.kind, mix(seed, static_cast<std::uint64_t>(number)));
    });
  });
}

}  // namespace partita::kernels
