// The last pass over a result: to = activation(scale from + beta c + bias), a stretch at a time. Each stretch
// is read into a small dense buffer in the type that is computed in, so that the arithmetic between
// vectorises whatever the dtypes and strides are.
#include "kernels/host/epilogue.hpp"

#include <complex>
#include <optional>
#include <type_traits>

#include "base/check.hpp"
#include "execute/bound_work.hpp"
#include "execute/line_sums.hpp"
#include "execute/scalar_as.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

constexpr std::int64_t stretch_elements = 512;
enum Slot : std::size_t { from_slot, to_slot, c_slot, auxiliary_slot, bias_slot };

bool reads_auxiliary(Activation activation) {
  return activation == Activation::drelu || activation == Activation::dgelu;
}

template <class T>
class BoundEpilogue final : public BoundWork {
 public:
  BoundEpilogue(const ApplyEpilogue& work, const WorkBinding& binding)
      : work_(work),
        parts_{bound(true, work.from, binding), bound(true, work.to, binding),
               bound(work.has_c, work.c, binding), bound(work.has_auxiliary, work.auxiliary, binding),
               bound(work.has_bias, work.bias, binding)},
        gradient_(bound(work.has_gradient, work.gradient, binding)),
        walk_(axes(), work.from.region.shape(), to_slot),
        sums_(axis(work.gradient_along_rows), gradient_ ? gradient_->extent(0) : 0) {
    invariant(work.from.region.empty() || work.from.region.shape() == work.to.region.shape(),
              "an epilogue of {} into {}", to_string(work.from.region.shape()),
              to_string(work.to.region.shape()));
    if (gradient_) gradient_runs_ = axis_runs(std::array{gradient_->axis(0)}, gradient_->extent(0));
  }

  void run(const AddressOf& address, const Parameters& parameters) override {
    if (work_.from.region.empty()) return;
    scale_ = static_cast<Real>(parameters.scale);
    beta_ = scalar_as<T>(parameters.beta);
    for (std::size_t x = 0; x < max_parts; ++x) {
      base_[x] = parts_[x] ? reinterpret_cast<std::byte*>(parts_[x]->base(address)) : nullptr;
    }
    sums_.clear();
    walk_.run(stretch_elements, [&](const PartStretch& stretch) { apply(stretch); });
    if (gradient_) sums_.add_to(gradient_runs_, gradient_->dtype(), gradient_->base(address));
  }

 private:
  using Real = decltype(std::abs(T()));

  static std::optional<BoundPart> bound(bool has, const Part& part, const WorkBinding& binding) {
    return has ? std::optional<BoundPart>(std::in_place, part, binding) : std::nullopt;
  }

  int axis(bool along_rows) const {
    return static_cast<int>(work_.from.region.sets.size()) - (along_rows ? 2 : 1);
  }

  std::vector<std::vector<PartAxis>> axes() const {
    std::vector<std::vector<PartAxis>> result(work_.from.region.sets.size(),
                                              std::vector<PartAxis>(max_parts));
    for (std::size_t d = 0; d < result.size(); ++d) {
      const int dimension = static_cast<int>(d);
      for (std::size_t x = 0; x < bias_slot; ++x) {
        if (parts_[x]) result[d][x] = parts_[x]->axis(dimension);
      }
      if (parts_[bias_slot] && dimension == axis(work_.bias_along_rows)) {
        result[d][bias_slot] = parts_[bias_slot]->axis(0);
      }
    }
    return result;
  }

  void load(Slot slot, const PartStretch& stretch, T* to) const {
    load_run(base_[slot], parts_[slot]->dtype(), stretch.offset[slot], stretch.step[slot], stretch.count, to);
  }
  void store(Slot slot, const PartStretch& stretch, const T* from) const {
    store_run(from, stretch.count, base_[slot], parts_[slot]->dtype(), stretch.offset[slot],
              stretch.step[slot]);
  }

  void apply(const PartStretch& stretch) {
    std::array<T, stretch_elements> values;
    std::array<T, stretch_elements> other;
    load(from_slot, stretch, values.data());
    if (scale_ != Real(1)) {
      for (std::int64_t i = 0; i < stretch.count; ++i) values[static_cast<std::size_t>(i)] *= scale_;
    }
    if (work_.has_c && beta_ != T(0)) {
      load(c_slot, stretch, other.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(stretch.count); ++i) values[i] += beta_ * other[i];
    }
    if (work_.has_bias) {
      load(bias_slot, stretch, other.data());
      for (std::size_t i = 0; i < static_cast<std::size_t>(stretch.count); ++i) values[i] += other[i];
    }
    if (work_.has_auxiliary && reads_auxiliary(work_.activation)) {
      load(auxiliary_slot, stretch, other.data());
    } else if (work_.has_auxiliary) {
      store(auxiliary_slot, stretch, values.data());
    }
    if constexpr (std::is_floating_point_v<T>) {
      activate(work_.activation, values.data(), other.data(), stretch.count);
    }
    store(to_slot, stretch, values.data());
    if (gradient_) sums_.add(stretch, walk_.inner(), values.data());
  }

  const ApplyEpilogue work_;
  std::array<std::optional<BoundPart>, max_parts> parts_;
  std::optional<BoundPart> gradient_;
  std::vector<AxisRun> gradient_runs_;
  PartWalk walk_;
  LineSums<T> sums_;
  std::array<std::byte*, max_parts> base_{};
  Real scale_ = 1;
  T beta_{};
};

void check_dtypes(const ApplyEpilogue& work, const Plan& plan, Dtype computed) {
  const auto check_part = [&](bool has, const Part& part, const char* role) {
    if (!has) return;
    const Dtype dtype = dtype_at(plan, part.place);
    check<UnsupportedError>(computes_in(dtype, computed), "no epilogue in {} with a {} of {}", name(computed),
                            role, name(dtype));
  };
  check_part(true, work.from, "sum");
  check_part(true, work.to, "result");
  check_part(work.has_c, work.c, "c");
  check_part(work.has_bias, work.bias, "bias");
  check_part(work.has_auxiliary, work.auxiliary, "auxiliary array");
  check_part(work.has_gradient, work.gradient, "gradient");
  check<UnsupportedError>(work.activation == Activation::identity || !is_complex(computed),
                          "no activation of complex numbers");
  invariant(!reads_auxiliary(work.activation) || work.has_auxiliary, "a derivative without auxiliary values");
}

Dtype computed_in(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype;
}

}  // namespace

std::unique_ptr<BoundWork> bind_epilogue(const ApplyEpilogue& work, const WorkBinding& binding) {
  const Dtype computed = computed_in(dtype_at(binding.plan, work.from.place));
  check_dtypes(work, binding.plan, computed);
  switch (computed) {
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

}  // namespace partita
