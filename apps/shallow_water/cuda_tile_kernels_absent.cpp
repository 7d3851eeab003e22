#include <partita/error.hpp>

#include "shallow_water/tile_kernels.hpp"

namespace shallow_water::cuda {

template <class T>
void advance_tiles(const Part<T>&, const Coefficients<T>&, Where, void*) {
  throw partita::UnsupportedError("this build has no CUDA");
}

template void advance_tiles(const Part<float>&, const Coefficients<float>&, Where, void*);
template void advance_tiles(const Part<double>&, const Coefficients<double>&, Where, void*);

}  // namespace shallow_water::cuda
