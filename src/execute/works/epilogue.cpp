// The last pass over a result: to = scale_d activation(scale_a scale_b scale from + beta c + bias), a stretch
// at a time. Each stretch is read into a small dense buffer in the type that is computed in, so that the
// arithmetic between vectorises whatever the dtypes and strides are.
#include "kernels/host/epilogue.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <type_traits>

#include "execute/works/bound_work.hpp"
#include "execute/works/epilogue_parts.hpp"
#include "execute/works/line_sums.hpp"
#include "execute/works/scalar_as.hpp"
#include "kernels/host/number_rules.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

constexpr std::int64_t stretch_elements = 512;
using Slot = EpilogueParts::Slot;

template <class T>
class BoundEpilogue final : public BoundWork {
 public:
  BoundEpilogue(const ApplyEpilogue& work, const WorkBinding& binding)
      : work_(work),
        parts_(work, binding),
        gradient_(bound_if(work.has_gradient, work.gradient, binding)),
        scale_d_(bound_if(work.has_scale_d, work.scale_d, binding)),
        amax_(bound_if(work.has_amax, work.amax, binding)),
        walk_(parts_.axes(), work.from.region.shape(), EpilogueParts::to),
        sums_(parts_.axis(work.gradient_along_rows), gradient_ ? gradient_->extent(0) : 0) {
    if (gradient_) gradient_runs_ = axis_runs(std::array{gradient_->axis(0)}, gradient_->extent(0));
  }

  void run(const AddressOf& address, const Parameters& parameters) override {
    if (work_.from.region.empty()) return;
    scale_ = static_cast<Real>(parameters.scale);
    beta_ = scalar_as<T>(planning::beta_of(work_.beta, parameters));
    for (std::size_t x = 0; x < max_parts; ++x) {
      base_[x] = parts_[x] ? reinterpret_cast<std::byte*>(parts_[x]->base(address)) : nullptr;
    }
    const auto scalar = [&](const std::optional<BoundPart>& part) {
      return part ? reinterpret_cast<float*>(part->base(address)) : nullptr;
    };
    scale_of_d_ = scale_d_ ? *scalar(scale_d_) : 1;
    largest_ = scalar(amax_);
    sums_.clear();
    walk_.run(stretch_elements, [&](const PartStretch& stretch) { apply(stretch); });
    if (gradient_) sums_.add_to(gradient_runs_, gradient_->dtype(), gradient_->base(address));
  }

 private:
  using Real = decltype(std::abs(T()));

  void load(Slot slot, const PartStretch& stretch, T* to) const {
    kernels::load_run(base_[slot], parts_[slot]->dtype(), stretch.offset[slot], stretch.step[slot],
                      stretch.count, to);
  }
  // Numbers of 8 bits go as far as they go, infinities too.
  void store(Slot slot, const PartStretch& stretch, const T* from) const {
    const Dtype dtype = parts_[slot]->dtype();
    const auto put = [&](const T* values) {
      kernels::store_run(values, stretch.count, base_[slot], dtype, stretch.offset[slot], stretch.step[slot]);
    };
    if constexpr (std::is_same_v<T, float>) {
      if (is_float8(dtype)) {
        const float most = dtype == Dtype::f8e4m3 ? 448 : 57344;
        std::array<float, stretch_elements> within;
        std::transform(from, from + stretch.count, within.begin(),
                       [most](float value) { return std::clamp(value, -most, most); });
        return put(within.data());
      }
    }
    put(from);
  }

  /// What integers are beyond their range wraps around.
  void add(T factor, const T* from, T* to, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = kernels::sum_of(to[i], kernels::product_of(factor, from[i]));
      } else {
        to[i] += factor * from[i];
      }
    }
  }

  void multiply(const T* from, T* to, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) to[i] *= from[i];
  }

  void apply(const PartStretch& stretch) {
    std::array<T, stretch_elements> values;
    std::array<T, stretch_elements> other;
    load(EpilogueParts::from, stretch, values.data());
    if (scale_ != Real(1)) {
      for (std::int64_t i = 0; i < stretch.count; ++i) values[static_cast<std::size_t>(i)] *= scale_;
    }
    for (const Slot slot : {EpilogueParts::scale_a, EpilogueParts::scale_b}) {
      if (!parts_[slot]) continue;
      load(slot, stretch, other.data());
      multiply(other.data(), values.data(), stretch.count);
    }
    if (work_.has_c && beta_ != T(0)) {
      load(EpilogueParts::c, stretch, other.data());
      add(beta_, other.data(), values.data(), stretch.count);
    }
    if (work_.has_bias) {
      load(EpilogueParts::bias, stretch, other.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(stretch.count); ++i) values[i] += other[i];
    }
    if (work_.has_auxiliary && reads_auxiliary(work_.activation)) {
      load(EpilogueParts::auxiliary, stretch, other.data());
    } else if (work_.has_auxiliary) {
      store(EpilogueParts::auxiliary, stretch, values.data());
    }
    if constexpr (std::is_floating_point_v<T>) {
      kernels::activate(work_.activation, values.data(), other.data(), stretch.count);
    }
    if (gradient_) sums_.add(stretch, walk_.inner(), values.data());
    if constexpr (std::is_same_v<T, float>) finish(values.data(), stretch.count);
    store(EpilogueParts::to, stretch, values.data());
  }

  void finish(float* values, std::int64_t count) const {
    if (largest_ != nullptr) {
      float largest = *largest_;
      for (std::int64_t i = 0; i < count; ++i) largest = kernels::most_of(largest, std::abs(values[i]));
      *largest_ = largest;
    }
    if (!scale_d_) return;
    for (std::int64_t i = 0; i < count; ++i) values[i] *= scale_of_d_;
  }

  const ApplyEpilogue work_;
  EpilogueParts parts_;
  std::optional<BoundPart> gradient_, scale_d_, amax_;
  std::vector<AxisRun> gradient_runs_;
  PartWalk walk_;
  LineSums<T> sums_;
  std::array<std::byte*, max_parts> base_{};
  Real scale_ = 1;
  T beta_{};
  float scale_of_d_ = 1;
  float* largest_ = nullptr;  // of this execution; null: not requested
};

}  // namespace

std::unique_ptr<BoundWork> bind_epilogue(const ApplyEpilogue& work, const WorkBinding& binding) {
  switch (computed_in(work, binding.plan)) {
    case Dtype::i32:
      return std::make_unique<BoundEpilogue<std::int32_t>>(work, binding);
    case Dtype::f32:
      return std::make_unique<BoundEpilogue<float>>(work, binding);
    case Dtype::f64:
      return std::make_unique<BoundEpilogue<double>>(work, binding);
    case Dtype::c64:
      return std::make_unique<BoundEpilogue<std::complex<float>>>(work, binding);
    default:
      return std::make_unique<BoundEpilogue<std::complex<double>>>(work, binding);
  }
}

}  // namespace partita::execution
