#include "kernels/host/symbol.hpp"

#include <complex>
#include <span>

namespace partita::kernels {
namespace {

template <class Real>
std::complex<Real> product(Symbol symbol, Real sum, std::complex<Real> value) {
  if (symbol == Symbol::derivative) return {-sum * value.imag(), sum * value.real()};
  const Real factor = sum == 0 ? Real{0} : -1 / sum;
  return {factor * value.real(), factor * value.imag()};
}

double term(const SymbolLoop& loop, std::int64_t i) {
  return loop.terms == nullptr ? 0 : loop.terms[i];
}

/// `sum`: of the terms of the loops around.
template <class Real>
void multiply_nest(Symbol symbol, std::span<const SymbolLoop> loops, double sum, std::complex<Real>* to,
                   const std::complex<Real>* from) {
  if (loops.empty()) {
    *to = product(symbol, static_cast<Real>(sum), *from);
    return;
  }
  const SymbolLoop& loop = loops.front();
  for (std::int64_t i = 0; i < loop.count; ++i) {
    std::complex<Real>* const written = to + i * loop.strides[SymbolPass::to];
    const std::complex<Real>* const read = from + i * loop.strides[SymbolPass::from];
    const double here = sum + term(loop, i);
    if (loops.size() == 1) {
      *written = product(symbol, static_cast<Real>(here), *read);
    } else {
      multiply_nest(symbol, loops.subspan(1), here, written, read);
    }
  }
}

template <class Real>
void multiply_as(const SymbolPass& pass) {
  multiply_nest<Real>(pass.symbol, pass.loops, 0, static_cast<std::complex<Real>*>(pass.data[SymbolPass::to]),
                      static_cast<const std::complex<Real>*>(pass.data[SymbolPass::from]));
}

}  // namespace

void multiply(const SymbolPass& pass) {
  pass.dtype == Dtype::c64 ? multiply_as<float>(pass) : multiply_as<double>(pass);
}

}  // namespace partita::kernels
