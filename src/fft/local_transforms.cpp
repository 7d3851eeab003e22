#include "fft/local_transforms.hpp"

#include <span>

#include "fft/chunks.hpp"
#include "fft/layouts.hpp"

namespace partita::fourier {
namespace {

/// Complex numbers that several axes make real are transformed at once by devices, which destroy them.
bool comes_back_at_once(const Steps& steps, const Problem& problem, const Stage& stage) {
  return steps.on_device() && problem.doubles && changes_dtype(problem, stage) && stage.axes.size() > 1;
}

/// What a local transform does at once: on the host, planes that stay in the second-level cache between their
/// axes.
std::vector<Region> pieces_of(const Steps& steps, const Stage& stage, const Region& region, int from) {
  constexpr std::int64_t direct_bytes = std::int64_t{1} << 20;
  const Operand& array = steps.operand(from);
  if (!steps.on_device()) {
    return chunks(region, stage.axes, array.axis_order, direct_bytes / size_of(array.dtype), 1);
  }
  return region.empty() ? std::vector<Region>() : std::vector<Region>{region};
}

/// How the lines of `from` are transformed: where they are, but what would be destroyed, and is not to be, is
/// copied first.
Way way_of(Steps& steps, const Problem& problem, const Stage& stage, const Region& region, int from, int to) {
  const Place source{from, steps.rank(), 0, {}};
  const Place target{to, steps.rank(), 0, {}};
  const bool keeps = !may_overwrite(steps, problem, from);
  if (!keeps || !comes_back_at_once(steps, problem, stage)) return {source, target, !keeps};
  const Operand array = steps.operand(from);
  const int lines = steps.scratch("lines", array.dtype, region.size() * size_of(array.dtype));
  const Place copied{lines, steps.rank(), 0, array.axis_order};
  if (!region.empty()) steps.copy(steps.rank(), region, source, copied);
  return {copied, target};
}

}  // namespace

Region transformed(const Problem& problem, const Stage& stage, const Region& before) {
  Region after = before;
  if (!after.empty() && changes_dtype(problem, stage)) {
    const int halved = problem.halved_axis();
    after.sets[static_cast<std::size_t>(halved)] = IndexSet::range(0, stage.after.shape()[halved]);
  }
  return after;
}

bool may_overwrite(const Steps& steps, const Problem& problem, int buffer) {
  return steps.buffer(buffer).kind != BufferKind::operand || problem.options.overwrite_input;
}

std::vector<Work> transforms(const Problem& problem, const Stage& stage, bool last, const Region& before,
                             const Way& way, bool at_once) {
  const auto& [from, to, overwrites] = way;
  Extents axes;
  for (const int axis : stage.axes) axes.push_back(axis);
  const Region after = transformed(problem, stage, before);
  if (!changes_dtype(problem, stage)) {
    return {Transform{{before, from}, {after, to}, axes, problem.kind, 0, last, false, problem.orthogonal()}};
  }
  const TransformKind kind = problem.halves ? TransformKind::real_to_complex : TransformKind::complex_to_real;
  std::vector<Work> works;
  if (!problem.halves && !at_once && axes.size() > 1) {
    const Extents others(std::span(axes.begin(), axes.end() - 1));
    works.push_back(Transform{{before, from}, {before, from}, others, problem.kind, 0, false});
    axes = {axes[axes.size() - 1]};
  }
  works.push_back(Transform{
      {before, from}, {after, to}, axes, kind, problem.real_length, last, problem.doubles && overwrites});
  return works;
}

void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle) {
  const Way way = way_of(steps, problem, stage, region, from, to);
  const bool at_once = comes_back_at_once(steps, problem, stage);
  for (const Region& piece : pieces_of(steps, stage, region, from)) {
    for (Work& work : transforms(problem, stage, last, piece, way, at_once)) {
      steps.compute(std::move(work));
    }
    if (!twiddle) continue;
    Twiddle roots = *twiddle;
    roots.part = {transformed(problem, stage, piece), way.to};
    steps.compute(roots);
  }
}

}  // namespace partita::fourier
