// A spectrum times a symbol on a device, row by row, with the rules of kernels/host/symbol.cpp.
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

/// Where a row begins, and the sum of its terms.
template <class Number>
__device__ Place place_of(const SymbolProduct& what, Number row) {
  Place place;
  for (int l = what.loops - 2; l >= 0; --l) {
    const Number count = static_cast<Number>(what.counts[l]);
    const Number whole = l == 0 ? 0 : row / count;
    const auto here = static_cast<std::int64_t>(row - whole * count);
    for (int x = 0; x < 2; ++x) place.at[x] += here * what.strides[l][x];
    if (what.terms[l] != nullptr) place.sum += what.terms[l][here];
    row = whole;
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
__global__ void multiply_modes(const __grid_constant__ SymbolProduct what, const __grid_constant__ Deal deal,
                               unsigned lanes) {
  const int inner = what.loops - 1;
  const double* const terms = what.terms[inner];
  const std::int64_t apart[2] = {what.strides[inner][to], what.strides[inner][from]};
  for_each_segment<Number>(deal, lanes, [&](Number row, std::int64_t i, std::int64_t end, unsigned step) {
    const Place place = place_of(what, row);
    const auto* const read = static_cast<const Complex<Real>*>(what.data[from]) + place.at[from];
    auto* const written = static_cast<Complex<Real>*>(what.data[to]) + place.at[to];
    for (; i < end; i += std::int64_t{together} * step) {
      Complex<Real> values[together];
      double sums[together];
#pragma unroll
      for (int e = 0; e < together; ++e) {
        const std::int64_t at = i + e * std::int64_t{step};
        if (at >= end) break;
        values[e] = read[at * apart[from]];
        sums[e] = terms == nullptr ? place.sum : place.sum + terms[at];
      }
#pragma unroll
      for (int e = 0; e < together; ++e) {
        const std::int64_t at = i + e * std::int64_t{step};
        if (at >= end) break;
        written[at * apart[to]] = product(what.symbol, static_cast<Real>(sums[e]), values[e]);
      }
    }
  });
}

template <class Real>
void launch(const SymbolProduct& what, cudaStream_t stream) {
  std::int64_t rows = 1;
  for (int l = 0; l + 1 < what.loops; ++l) rows *= what.counts[l];
  const Deal deal = deal_of(rows, what.counts[what.loops - 1]);
  const unsigned lanes = lanes_of(deal, 2 * together);
  const unsigned blocks = blocks_for(deal.tasks * lanes);
  auto* const kernel = deal.tasks <= narrow_numbers ? multiply_modes<Real, std::uint32_t>
                                                    : multiply_modes<Real, std::uint64_t>;
  kernel<<<blocks, threads_per_block, 0, stream>>>(what, deal, lanes);
}

}  // namespace

int launch_symbol(const SymbolProduct& what, void* stream) {
  const auto native = static_cast<cudaStream_t>(stream);
  SymbolProduct rows = what;
  if (rows.loops == 0) rows.counts[rows.loops++] = 1;
  what.dtype == Dtype::c64 ? launch<float>(rows, native) : launch<double>(rows, native);
  return cudaGetLastError();
}

int load_symbol_kernels() {
  return load(multiply_modes<float, std::uint32_t>, multiply_modes<float, std::uint64_t>,
              multiply_modes<double, std::uint32_t>, multiply_modes<double, std::uint64_t>);
}

}  // namespace partita::kernels::cuda
