#include "execute/works/epilogue_parts.hpp"

#include "base/check.hpp"
#include "base/half.hpp"
#include "kernels/host/number_runs.hpp"
#include "plan/work.hpp"

namespace partita::execution {

std::optional<BoundPart> bound_if(bool has, const Part& part, const WorkBinding& binding) {
  return has ? std::optional<BoundPart>(std::in_place, part, binding) : std::nullopt;
}

bool reads_auxiliary(Activation activation) {
  return activation == Activation::drelu || activation == Activation::dgelu;
}

Dtype computed_in(const ApplyEpilogue& work, const Plan& plan) {
  const Dtype from = planning::dtype_at(plan, work.from.place);
  const Dtype computed = is_small_float(from) ? Dtype::f32 : from;
  const auto check_part = [&](bool has, const Part& part, const char* role) {
    if (!has) return;
    const Dtype dtype = planning::dtype_at(plan, part.place);
    check<UnsupportedError>(kernels::computes_in(dtype, computed),
                            "an epilogue in {} with a {} of {} is not supported", name(computed), role,
                            name(dtype));
  };
  check_part(true, work.from, "sum");
  check_part(true, work.to, "result");
  check_part(work.has_c, work.c, "c");
  check_part(work.has_bias, work.bias, "bias");
  check_part(work.has_auxiliary, work.auxiliary, "auxiliary array");
  check_part(work.has_gradient, work.gradient, "gradient");
  const bool real = !is_complex(computed) && !is_integer(computed);
  check<UnsupportedError>(work.activation == Activation::identity || real,
                          "activations require real floating-point numbers");
  const bool scaled = work.has_scale_a || work.has_scale_b || work.has_scale_d || work.has_amax;
  check<UnsupportedError>(!scaled || computed == Dtype::f32, "no scales of {}", name(computed));
  invariant(!reads_auxiliary(work.activation) || work.has_auxiliary, "a derivative needs auxiliary values");
  return computed;
}

EpilogueParts::EpilogueParts(const ApplyEpilogue& work, const WorkBinding& binding)
    : dimensions_(static_cast<int>(work.from.region.sets.size())),
      bias_along_rows_(work.bias_along_rows),
      parts_{bound_if(true, work.from, binding),
             bound_if(true, work.to, binding),
             bound_if(work.has_c, work.c, binding),
             bound_if(work.has_auxiliary, work.auxiliary, binding),
             bound_if(work.has_bias, work.bias, binding),
             bound_if(work.has_scale_a, work.scale_a, binding),
             bound_if(work.has_scale_b, work.scale_b, binding)} {
  invariant(work.from.region.empty() || work.from.region.shape() == work.to.region.shape(),
            "an epilogue of {} into {}", to_string(work.from.region.shape()),
            to_string(work.to.region.shape()));
}

std::vector<std::vector<PartAxis>> EpilogueParts::axes() const {
  std::vector<std::vector<PartAxis>> result(static_cast<std::size_t>(dimensions_),
                                            std::vector<PartAxis>(max_parts));
  for (int d = 0; d < dimensions_; ++d) {
    std::vector<PartAxis>& here = result[static_cast<std::size_t>(d)];
    for (std::size_t x = 0; x < bias; ++x) {
      if (parts_[x]) here[x] = parts_[x]->axis(d);
    }
    const auto add = [&](Slot slot, bool along_rows) {
      const bool has = parts_[slot] && parts_[slot]->dimensions() > 0;
      if (has && d == axis(along_rows)) here[slot] = parts_[slot]->axis(0);
    };
    add(bias, bias_along_rows_);
    add(scale_a, true);
    add(scale_b, false);
  }
  return result;
}

}  // namespace partita::execution
