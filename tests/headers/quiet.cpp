// What users write, in the form in which the docs have it: compiles without a warning.
#include <partita/partita.hpp>
#include <vector>

namespace pt = partita;

void designated(const pt::Context& context, const pt::Array& a, const pt::Array& b) {
  const pt::Context other = pt::initialize({.device = pt::Device::any()});
  const pt::Array c =
      pt::zeros(context, {8, 8}, pt::Slab(0), pt::Dtype::f32, {.order = pt::Order::column_major});
  (void)pt::redistribute(c, pt::Slab(1), {.order = pt::Order::column_major});
  (void)pt::matmul(a, b, {.epilogue = pt::Epilogue::gelu});
  (void)pt::fft(a, {.axes = {0}, .output = pt::Output::cheapest});
  (void)pt::resize_spectrum(a, {8, 8}, {12, 12}, {.norm = pt::Norm::backward});
  const pt::SpectralOptions waves{.axes = {0, 1}};
  const pt::Halo halo(other, a.operand(), {.lower = {1, 1}});
  const pt::Matmul product(context, {.a = a.operand(), .b = b.operand(), .d = c.operand()}, {.beta = 1});
  const pt::View nothing{.data = nullptr, .dtype = pt::Dtype::f32};
  pt::all_reduce(context, nothing, nothing, {.reduction = pt::Reduction::max});
  (void)waves;
}

void sizes(const pt::Context& context, std::size_t rows, unsigned columns,
           const std::vector<std::size_t>& shape) {
  pt::Array a =
      pt::zeros(context, {rows, columns, 3}, pt::BlockCyclic({1, rows}, {columns, rows}), pt::Dtype::f16);
  pt::fill(a, pt::Float16(0.5f));
  const pt::Array b = pt::empty(context, pt::Shape(shape), pt::Slab(0), pt::Dtype::bf16);
  (void)b.local().strides.at(0);
}
