#include "execute/works/transform_nests.hpp"

#include <bitset>

#include "base/check.hpp"
#include "base/contains.hpp"
#include "execute/loops.hpp"
#include "execute/lower.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

struct TransformDtypes {
  Dtype from, to;
};

/// Checks that the dtypes are those of the kind.
TransformDtypes dtypes_of(const Transform& work, const Plan& plan) {
  const TransformDtypes dtypes{planning::dtype_at(plan, work.from.place),
                               planning::dtype_at(plan, work.to.place)};
  const bool complex_kind =
      work.kind == TransformKind::complex_forward || work.kind == TransformKind::complex_backward;
  const bool from_complex = complex_kind || work.kind == TransformKind::complex_to_real;
  const bool to_complex = complex_kind || work.kind == TransformKind::real_to_complex;
  const bool single = dtypes.to == Dtype::f32 || dtypes.to == Dtype::c64;
  const auto wanted = [&](bool is_complex) {
    if (single) return is_complex ? Dtype::c64 : Dtype::f32;
    return is_complex ? Dtype::c128 : Dtype::f64;
  };
  check(dtypes.from == wanted(from_complex) && dtypes.to == wanted(to_complex),
        "a transform of this kind converts {} to {}, not {} to {}", name(wanted(from_complex)),
        name(wanted(to_complex)), name(dtypes.from), name(dtypes.to));
  return dtypes;
}

class Nests {
 public:
  Nests(const Transform& work, const WorkBinding& binding)
      : work_(work),
        dtypes_(dtypes_of(work, binding.plan)),
        from_(side(work.from, dtypes_.from, binding)),
        to_(side(work.to, dtypes_.to, binding)) {
    check_parts();
    first_.from = from_.byte_offset;
    first_.to = to_.byte_offset;
    first_.nest.kind = work.kind;
    first_.nest.precision = dtypes_.to == Dtype::f32 || dtypes_.to == Dtype::c64
                                ? kernels::FftwPrecision::f32
                                : kernels::FftwPrecision::f64;
    for (const std::int64_t axis : work.axes) add_line(static_cast<int>(axis));
    find_stretches();
  }

  std::vector<PlacedTransform> all() {
    combine(0, first_);
    return std::move(result_);
  }

 private:
  int dimensions() const { return static_cast<int>(work_.from.region.sets.size()); }
  bool is_half(int axis) const {
    const bool half =
        work_.kind == TransformKind::real_to_complex || work_.kind == TransformKind::complex_to_real;
    return half && axis == work_.axes[work_.axes.size() - 1];
  }
  static Side side(const Part& part, Dtype dtype, const WorkBinding& binding) {
    return side_of(binding.plan, part.place, part.region,
                   binding.strides[static_cast<std::size_t>(part.place.buffer)], size_of(dtype));
  }

  void check_parts() const {
    check(work_.from.region.sets.size() == work_.to.region.sets.size(),
          "a transform of {} dimensions into {}", work_.from.region.sets.size(), work_.to.region.sets.size());
    check(!work_.axes.empty(), "a transform along no axis");
    std::bitset<max_dimensions> named;
    for (const std::int64_t axis : work_.axes) {
      check(axis >= 0 && axis < dimensions(), "a transform of {} dimensions has no axis {}", dimensions(),
            axis);
      check(!named[static_cast<std::size_t>(axis)], "a transform names the axis {} twice", axis);
      named.set(static_cast<std::size_t>(axis));
    }
  }

  Walked walked_from(int dimension) const {
    const auto d = static_cast<std::size_t>(dimension);
    return {work_.from.region.sets[d], from_.owned.sets[d]};
  }
  Walked walked_to(int dimension) const {
    const auto d = static_cast<std::size_t>(dimension);
    return {work_.to.region.sets[d], to_.owned.sets[d]};
  }
  std::int64_t from_step(int dimension) const {
    return from_.byte_strides[dimension] / size_of(dtypes_.from);
  }
  std::int64_t to_step(int dimension) const { return to_.byte_strides[dimension] / size_of(dtypes_.to); }

  void add_line(int axis) {
    const Progression from = progression_of(walked_from(axis)), to = progression_of(walked_to(axis));
    std::int64_t length = from.count;
    if (is_half(axis)) {
      length = work_.real_length;
      const std::int64_t half = length / 2 + 1;
      const bool forward = work_.kind == TransformKind::real_to_complex;
      const std::int64_t real = forward ? from.count : to.count, spectrum = forward ? to.count : from.count;
      check(real == length && spectrum == half,
            "a real transform of {} has {} complex results, but the parts hold {} and {}", length, half, real,
            spectrum);
    } else {
      check(from.count == to.count, "a transform of {} elements along axis {} into {}", from.count, axis,
            to.count);
    }
    first_.nest.lines.push_back({length, from.step * from_step(axis), to.step * to_step(axis)});
    first_.from += from.first * from_.byte_strides[axis];
    first_.to += to.first * to_.byte_strides[axis];
  }

  void find_stretches() {
    for (int d = 0; d < dimensions(); ++d) {
      if (contains(work_.axes, d)) continue;
      batch_.push_back(d);
      stretches_.push_back(stretches_of(walked_from(d), walked_to(d)));
    }
  }

  /// Every combination of a stretch of each batch dimension from the given one on.
  void combine(std::size_t next, const PlacedTransform& before) {
    if (next == batch_.size()) {
      result_.push_back(before);
      return;
    }
    const int d = batch_[next];
    for (const Stretch& stretch : stretches_[next]) {
      PlacedTransform there = before;
      there.from += stretch.from * from_.byte_strides[d];
      there.to += stretch.to * to_.byte_strides[d];
      for (const kernels::FftwLoop& loop : stretch.loops) {
        if (loop.count == 1) continue;
        there.nest.batch.push_back(
            {loop.count, loop.from_stride * from_step(d), loop.to_stride * to_step(d)});
      }
      combine(next + 1, there);
    }
  }

  const Transform& work_;
  TransformDtypes dtypes_;
  Side from_, to_;
  PlacedTransform first_;  // without batch
  std::vector<int> batch_;
  std::vector<std::vector<Stretch>> stretches_;  // by batch dimension
  std::vector<PlacedTransform> result_;
};

}  // namespace

std::vector<PlacedTransform> transform_nests(const Transform& work, const WorkBinding& binding) {
  if (work.from.region.empty() && work.to.region.empty()) return {};
  return Nests(work, binding).all();
}

}  // namespace partita::execution
