// Sums over all dimensions but one, in double precision, always in the same order.
#pragma once

#include <array>
#include <complex>
#include <type_traits>
#include <vector>

#include "execute/part_walk.hpp"
#include "kernels/host/number_runs.hpp"

namespace partita::execution {

/// Adds up stretches of numbers along dimension `axis`; `add_to` then adds the sums to a one-dimensional
/// part. T: the type of the numbers.
template <class T>
class LineSums {
 public:
  using Sum = std::conditional_t<std::is_arithmetic_v<T>, double, std::complex<double>>;

  LineSums(int axis, std::int64_t extent) : axis_(axis), sums_(static_cast<std::size_t>(extent)) {}

  void clear() { std::fill(sums_.begin(), sums_.end(), Sum(0)); }

  void add(const PartStretch& stretch, int inner, const T* values) {
    const std::int64_t first = stretch.at[axis_];
    Sum* const sums = sums_.data() + first;
    if (inner == axis_) {
      for (std::int64_t i = 0; i < stretch.count; ++i) sums[i] += Sum(values[i]);
    } else {
      *sums += total(values, stretch.count);
    }
  }

  void conjugate() {
    if constexpr (!std::is_arithmetic_v<T>) {
      for (Sum& sum : sums_) sum = std::conj(sum);
    }
  }

  /// `runs`: of the part's one dimension.
  void add_to(const std::vector<AxisRun>& runs, Dtype dtype, char* base) const {
    auto* const to = reinterpret_cast<std::byte*>(base);
    for (const AxisRun& run : runs) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        Sum value{};
        const std::int64_t offset = run.offset[0] + i * run.step[0];
        kernels::load_run(to, dtype, offset, 1, 1, &value);
        value += sums_[static_cast<std::size_t>(run.first + i)];
        kernels::store_run(&value, 1, to, dtype, offset, 1);
      }
    }
  }

 private:
  // Eight sums side by side: the machine adds them at once, and the order does not depend on it.
  static Sum total(const T* values, std::int64_t count) {
    std::array<Sum, 8> lanes{};
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      for (std::int64_t lane = 0; lane < 8; ++lane) {
        lanes[static_cast<std::size_t>(lane)] += Sum(values[i + lane]);
      }
    }
    Sum sum =
        ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    for (; i < count; ++i) sum += Sum(values[i]);
    return sum;
  }

  int axis_;
  std::vector<Sum> sums_;
};

}  // namespace partita::execution
