// Twiddle: element (.., j, .., k, ..) times exp(sign 2 pi i j k / N), between the two halves of a long
// transform.
//
// Products j k are reduced modulo N before they become an angle, so that factors are exact at any length.
#include <algorithm>
#include <complex>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "execute/lower.hpp"
#include "execute/works/bound_work.hpp"
#include "kernels/host/known.hpp"
#include "kernels/host/roots.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

using Roots = kernels::Roots<double>;

/// One table for all chunks of a loop, on all ranks of the process.
std::shared_ptr<const Roots> roots_of(std::int64_t length, int sign) {
  static auto* const known = new kernels::Known<std::pair<std::int64_t, int>, Roots>;
  return known->find_or_make({length, sign},
                             [&] { return std::make_shared<const Roots>(length, sign, length); });
}

__extension__ using wide = __int128;

/// a * b mod n, also where a * b does not fit into 64 bits.
std::int64_t multiply_modulo(std::int64_t a, std::int64_t b, std::int64_t n) {
  return static_cast<std::int64_t>(static_cast<wide>(a) * b % n);
}

class BoundTwiddle final : public BoundWork {
 public:
  BoundTwiddle(const Twiddle& work, const WorkBinding& binding)
      : place_(work.part.place),
        region_(work.part.region),
        axis_(work.axis),
        other_(work.other),
        single_(planning::dtype_at(binding.plan, place_) == Dtype::c64),
        roots_(roots_of(work.length, work.sign)) {
    const Side side =
        side_of(binding.plan, place_, region_, binding.strides[static_cast<std::size_t>(place_.buffer)],
                size_of(planning::dtype_at(binding.plan, place_)));
    offset_ = side.byte_offset;
    strides_ = side.byte_strides;
    for (std::size_t d = 0; d < region_.sets.size(); ++d) positions_.push_back(positions(side, d));
    order_loops();
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    if (single_) {
      walk<float>(0, address(place_) + offset_, 0, 0);
    } else {
      walk<double>(0, address(place_) + offset_, 0, 0);
    }
  }

 private:
  /// Bytes from the first owned element, by element of the region.
  std::vector<std::int64_t> positions(const Side& side, std::size_t d) const {
    std::vector<std::int64_t> result;
    const IndexSet& set = region_.sets[d];
    for (std::int64_t p = 0; p < set.size(); ++p) {
      result.push_back(side.owned.sets[d].position(set.at(p)) * strides_[static_cast<int>(d)]);
    }
    return result;
  }

  /// The dimension of the smallest step innermost.
  void order_loops() {
    for (int d = 0; d < strides_.size(); ++d) loops_.push_back(d);
    std::sort(loops_.begin(), loops_.end(), [&](std::int64_t a, std::int64_t b) {
      return std::abs(strides_[static_cast<int>(a)]) > std::abs(strides_[static_cast<int>(b)]);
    });
  }

  template <class Real>
  void walk(int loop, char* at, std::int64_t j, std::int64_t k) const {
    if (loop == loops_.size()) {
      multiply<Real>(at, (*roots_)(multiply_modulo(j, k, roots_->length())));
      return;
    }
    const auto d = static_cast<std::size_t>(loops_[loop]);
    const bool along_axis = static_cast<int>(d) == axis_, along_other = static_cast<int>(d) == other_;
    if (loop + 1 == loops_.size() && (along_axis || along_other)) {
      return last<Real>(d, at, along_axis ? k : j);
    }
    const std::vector<std::int64_t>& positions = positions_[d];
    for (std::size_t p = 0; p < positions.size(); ++p) {
      const std::int64_t index = region_.sets[d].at(static_cast<std::int64_t>(p));
      walk<Real>(loop + 1, at + positions[p], along_axis ? index : j, along_other ? index : k);
    }
  }

  /// The innermost loop, along j or k: the exponent grows by `fixed` from one index to the next.
  template <class Real>
  void last(std::size_t d, char* at, std::int64_t fixed) const {
    const Roots& roots = *roots_;
    const std::int64_t n = roots.length(), step = fixed % n;
    const IndexSet& set = region_.sets[d];
    std::int64_t before = set.front(), exponent = multiply_modulo(before, step, n);
    for (std::size_t p = 0; p < positions_[d].size(); ++p) {
      const std::int64_t index = set.at(static_cast<std::int64_t>(p));
      if (index == before + 1) {
        exponent += step;
        if (exponent >= n) exponent -= n;
      } else if (index != before) {
        exponent = multiply_modulo(index, step, n);
      }
      before = index;
      multiply<Real>(at + positions_[d][p], roots(exponent));
    }
  }

  template <class Real>
  static void multiply(char* at, std::complex<double> root) {
    Real* const x = reinterpret_cast<Real*>(at);
    const auto real = static_cast<Real>(root.real()), imaginary = static_cast<Real>(root.imag());
    const Real first = x[0] * real - x[1] * imaginary;
    x[1] = x[0] * imaginary + x[1] * real;
    x[0] = first;
  }

  Place place_;
  Region region_;
  int axis_, other_;
  bool single_;
  std::shared_ptr<const Roots> roots_;
  std::int64_t offset_ = 0;
  Strides strides_;
  std::vector<std::vector<std::int64_t>> positions_;
  Extents loops_;  // dimensions, outermost first
};

}  // namespace

void check_twiddle(const Twiddle& work, const WorkBinding& binding) {
  const auto dimensions = static_cast<int>(work.part.region.sets.size());
  const auto inside = [&](int d) { return d >= 0 && d < dimensions; };
  check(inside(work.axis) && inside(work.other) && work.axis != work.other,
        "a twiddle of {} dimensions cannot run along the axes {} and {}", dimensions, work.axis, work.other);
  check(work.length > 0 && (work.sign == 1 || work.sign == -1),
        "a twiddle by roots of unity of length {} and sign {}", work.length, work.sign);
  const Dtype dtype = planning::dtype_at(binding.plan, work.part.place);
  check(is_complex(dtype), "a twiddle needs complex numbers, not {}", name(dtype));
}

std::unique_ptr<BoundWork> bind_twiddle(const Twiddle& work, const WorkBinding& binding) {
  check_twiddle(work, binding);
  if (work.part.region.empty()) return std::make_unique<NoWork>();
  return std::make_unique<BoundTwiddle>(work, binding);
}

}  // namespace partita::execution
