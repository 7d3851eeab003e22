// What the kernels of the host share: types, and lines of numbers in the type that computes.
#pragma once

#include <algorithm>
#include <partita/error.hpp>
#include <partita/half.hpp>
#include <partita/view.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace transformer::host {
namespace pt = partita;

/// Calls f(T()) with the type of the dtype.
template <class F>
void with_type(pt::Dtype dtype, F&& f) {
  if (dtype == pt::Dtype::bf16) return f(pt::BFloat16());
  if (dtype == pt::Dtype::f32) return f(float());
  if (dtype == pt::Dtype::f64) return f(double());
  throw pt::UnsupportedError("transformer: no kernels for " + std::string(pt::name(dtype)));
}

/// In which numbers of a type are computed.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, pt::BFloat16>, float, T>;

template <class T>
T* data(const pt::View& view) {
  return static_cast<T*>(view.data);
}

template <class T>
T* column(const pt::View& view, std::int64_t number) {
  return data<T>(view) + number * view.extents[0];
}

/// Numbers in the type of the computation: in place, or widened.
template <class T>
class Line {
 public:
  Line(T* memory, std::int64_t size) : memory_(memory) {
    if constexpr (!std::is_same_v<T, Wide<T>>) wide_.assign(memory, memory + size);
  }
  Wide<T>* begin() {
    if constexpr (std::is_same_v<T, Wide<T>>)
      return memory_;
    else
      return wide_.data();
  }
  /// They are in place.
  void store() {
    if constexpr (!std::is_same_v<T, Wide<T>>)
      std::transform(wide_.begin(), wide_.end(), memory_, [](float value) { return T(value); });
  }

 private:
  T* memory_;
  std::vector<Wide<T>> wide_;  // nothing where they may stay
};

}  // namespace transformer::host
