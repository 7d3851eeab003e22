#include "fft/owned_lines.hpp"

#include "fft/chunks.hpp"
#include "fft/through_cache.hpp"

namespace partita::fourier {
namespace {

// What a local transform does at once: planes that stay in the second-level cache between their axes.
constexpr std::int64_t direct_bytes = std::int64_t{1} << 20;

}  // namespace

void transform_owned(Steps& steps, const Problem& problem, const Stage& stage, bool last,
                     const Region& region, int from, int to, const std::optional<Twiddle>& twiddle) {
  const Place source{from, steps.rank(), 0, {}};
  const Place target{to, steps.rank(), 0, {}};
  const Operand& array = steps.operand(from);
  const std::int64_t elements = direct_bytes / size_of(array.dtype);
  for (const Region& piece : chunks(region, stage.axes, array.axis_order, elements, 1)) {
    for (Work& work : transforms(problem, stage, last, piece, source, target, source)) {
      steps.compute(std::move(work));
    }
    if (!twiddle) continue;
    Twiddle roots = *twiddle;
    roots.part = {transformed(problem, stage, piece), target};
    steps.compute(roots);
  }
}

}  // namespace partita::fourier
