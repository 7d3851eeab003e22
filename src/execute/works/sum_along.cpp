// to[i] += the sum of from over all dimensions but one.
#include <complex>

#include "base/check.hpp"
#include "execute/works/bound_work.hpp"
#include "execute/works/line_sums.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

constexpr std::int64_t summed_at_once = 512;

template <class T>
class BoundSum final : public BoundWork {
 public:
  BoundSum(const SumAlong& work, const WorkBinding& binding)
      : from_(work.from, binding),
        to_(work.to, binding),
        empty_(work.from.region.empty()),
        runs_(axis_runs(std::array{to_.axis(0)}, to_.extent(0))),
        walk_(axes(), work.from.region.shape(), 0),
        conjugate_(work.conjugate),
        sums_(work.axis, to_.extent(0)) {
    invariant(from_.extent(work.axis) == to_.extent(0), "sums of {} lines onto {}", from_.extent(work.axis),
              to_.extent(0));
  }

  void run(const AddressOf& address, const Parameters& /*parameters*/) override {
    if (empty_) return;
    const auto* const from = reinterpret_cast<const std::byte*>(from_.base(address));
    sums_.clear();
    walk_.run(summed_at_once, [&](const PartStretch& stretch) {
      std::array<T, summed_at_once> values;
      kernels::load_run(from, from_.dtype(), stretch.offset[0], stretch.step[0], stretch.count,
                        values.data());
      sums_.add(stretch, walk_.inner(), values.data());
    });
    if (conjugate_) sums_.conjugate();
    sums_.add_to(runs_, to_.dtype(), to_.base(address));
  }

 private:
  std::vector<std::vector<PartAxis>> axes() const {
    std::vector<std::vector<PartAxis>> result;
    for (int d = 0; d < from_.dimensions(); ++d) result.push_back({from_.axis(d)});
    return result;
  }

  BoundPart from_, to_;
  bool empty_;
  std::vector<AxisRun> runs_;
  PartWalk walk_;
  bool conjugate_;
  LineSums<T> sums_;
};

}  // namespace

std::unique_ptr<BoundWork> bind_sum_along(const SumAlong& work, const WorkBinding& binding) {
  const Dtype from = planning::dtype_at(binding.plan, work.from.place);
  const Dtype to = planning::dtype_at(binding.plan, work.to.place);
  const bool complex_numbers = is_complex(from);
  const Dtype computed = complex_numbers ? Dtype::c128 : Dtype::f64;
  check<UnsupportedError>(kernels::computes_in(from, computed) && kernels::computes_in(to, computed),
                          "no sums of {} onto {}", name(from), name(to));
  if (complex_numbers) return std::make_unique<BoundSum<std::complex<double>>>(work, binding);
  return std::make_unique<BoundSum<double>>(work, binding);
}

}  // namespace partita::execution
