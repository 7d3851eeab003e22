// A spectrum times a symbol on a device, some elements a thread, with the rules of kernels/host/symbol.cpp.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/symbol_launch.hpp"

namespace partita::kernels::cuda {
namespace {

enum Part { to, from };
constexpr int together = 4;  // elements of a thread whose reads are under way at the same time

struct Place {
  std::int64_t at[2] = {0, 0};
  double sum = 0;
};

/// Where element `number` lies, and the sum of its terms. `Number`: as in arithmetic.cuh.
template <class Number>
__device__ Place place_of(const SymbolProduct& what, Number number) {
  Place place;
  for (int l = what.loops - 1; l >= 0; --l) {
    const Number count = static_cast<Number>(what.counts[l]);
    const Number whole = l == 0 ? 0 : number / count;
    const auto here = static_cast<std::int64_t>(number - whole * count);
    for (int x = 0; x < 2; ++x) place.at[x] += here * what.strides[l][x];
    if (what.terms[l] != nullptr) place.sum += what.terms[l][here];
    number = whole;
  }
  return place;
}

template <class Real>
__device__ Complex<Real> product(Symbol symbol, Real sum, Complex<Real> value) {
  if (symbol == Symbol::derivative) return {-sum * value.imaginary, sum * value.real};
  const Real factor = sum == 0 ? Real(0) : -1 / sum;
  return {factor * value.real, factor * value.imaginary};
}

template <class Real, class Number>
__global__ void multiply_modes(const __grid_constant__ SymbolProduct what, Number elements) {
  const auto* const read = static_cast<const Complex<Real>*>(what.data[from]);
  auto* const written = static_cast<Complex<Real>*>(what.data[to]);
  const auto threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < static_cast<std::int64_t>(elements); i += together * threads) {
    Place places[together];
    Complex<Real> values[together];
#pragma unroll
    for (int e = 0; e < together; ++e) {
      const std::int64_t number = i + e * threads;
      if (number >= static_cast<std::int64_t>(elements)) break;
      places[e] = place_of(what, static_cast<Number>(number));
      values[e] = read[places[e].at[from]];
    }
#pragma unroll
    for (int e = 0; e < together; ++e) {
      if (i + e * threads >= static_cast<std::int64_t>(elements)) break;
      written[places[e].at[to]] = product(what.symbol, static_cast<Real>(places[e].sum), values[e]);
    }
  }
}

template <class Real>
void launch(const SymbolProduct& what, std::int64_t elements, cudaStream_t stream) {
  const unsigned blocks = blocks_for((elements + together - 1) / together);
  if (elements <= narrow_numbers) {
    multiply_modes<Real, std::uint32_t>
        <<<blocks, threads_per_block, 0, stream>>>(what, static_cast<std::uint32_t>(elements));
  } else {
    multiply_modes<Real, std::uint64_t>
        <<<blocks, threads_per_block, 0, stream>>>(what, static_cast<std::uint64_t>(elements));
  }
}

}  // namespace

int launch_symbol(const SymbolProduct& what, void* stream) {
  std::int64_t elements = 1;
  for (int l = 0; l < what.loops; ++l) elements *= what.counts[l];
  const auto native = static_cast<cudaStream_t>(stream);
  what.dtype == Dtype::c64 ? launch<float>(what, elements, native) : launch<double>(what, elements, native);
  return cudaGetLastError();
}

int load_symbol_kernels() {
  return load(multiply_modes<float, std::uint32_t>, multiply_modes<float, std::uint64_t>,
              multiply_modes<double, std::uint32_t>, multiply_modes<double, std::uint64_t>);
}

}  // namespace partita::kernels::cuda
