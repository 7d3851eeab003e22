// What the spectral helpers share.
#pragma once

#include <complex>
#include <partita/array.hpp>
#include <vector>

namespace partita::spectral {

/// The named axes, or all; throws ArgumentError for one that is not there.
std::vector<int> all_or(const std::vector<int>& axes, int dimensions);

/// Calls `body(position, element)` for every element of a local part, `position` its local index. The last
/// dimension runs fastest.
template <class T, class Body>
void for_each_local(const View& local, Body&& body) {
  const int dimensions = local.extents.size();
  if (volume(local.extents) == 0) return;
  auto* const base = static_cast<T*>(local.data);
  Index at = Extents::filled(dimensions, 0);
  for (bool more = true; more;) {
    std::int64_t offset = 0;
    for (int d = 0; d < dimensions; ++d) offset += at[d] * local.strides[d];
    body(at, base[offset]);
    more = false;
    for (int d = dimensions - 1; d >= 0 && !more; --d) {
      more = ++at[d] < local.extents[d];
      if (!more) at[d] = 0;
    }
  }
}

/// `body(zero)`, a zero of the complex dtype.
template <class Body>
void with_number(Dtype dtype, Body&& body) {
  if (dtype == Dtype::c64) {
    body(std::complex<float>());
  } else {
    body(std::complex<double>());
  }
}

/// Calls `body(element, other)` for every pair of elements of two complex local parts of the same extents.
template <class Body>
void for_each_pair(const View& local, const View& others, Body&& body) {
  with_number(local.dtype, [&]<class Number>(Number /*zero*/) {
    const auto* const first = static_cast<const Number*>(others.data);
    for_each_local<Number>(local, [&](const Index& at, Number& element) {
      std::int64_t offset = 0;
      for (int d = 0; d < at.size(); ++d) offset += at[d] * others.strides[d];
      body(element, first[offset]);
    });
  });
}

}  // namespace partita::spectral
