#include "kernels/host/scale.hpp"

namespace partita {

template <class Real>
void scale(std::span<const ScaleLoop> loops, int reals, Real factor, Real* first) {
  if (loops.empty()) {
    for (int i = 0; i < reals; ++i) first[i] *= factor;
    return;
  }
  const ScaleLoop& loop = loops.front();
  if (loops.size() == 1 && loop.stride == 1) {
    for (std::int64_t i = 0; i < loop.count * reals; ++i) first[i] *= factor;
    return;
  }
  for (std::int64_t i = 0; i < loop.count; ++i) {
    scale(loops.subspan(1), reals, factor, first + i * loop.stride * reals);
  }
}

template void scale(std::span<const ScaleLoop> loops, int reals, float factor, float* first);
template void scale(std::span<const ScaleLoop> loops, int reals, double factor, double* first);

}  // namespace partita
