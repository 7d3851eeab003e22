#include "execute/works/device_blas_calls.hpp"

#include <utility>

namespace partita::execution {
namespace {

using devices::BlasOp;
using Batch = ProductShape::Batch;
using kernels::MatrixShape;

MatrixShape matrix_of(const ProductRole& role, std::size_t i, std::size_t j) {
  const kernels::TileAxis &rows = role.row(i), &columns = role.column(j);
  return {rows.count, columns.count, rows.step, columns.step};
}

devices::DeviceGemm::Factor factor_of(const MatrixShape& matrix, bool conjugated, Dtype dtype) {
  const auto [transposed, leading] = kernels::blas_factor(matrix, conjugated);
  const BlasOp plain = transposed ? BlasOp::transpose : BlasOp::none;
  return {conjugated ? BlasOp::conjugate_transpose : plain, leading, 0, dtype};
}

BlasCall call_of(const Multiply& work, const ProductShape& shape, std::size_t i, std::size_t j,
                 std::size_t l) {
  const auto offset = [](const ProductRole& role, std::size_t r, std::size_t c) {
    return role.row(r).offset + role.column(c).offset;
  };
  BlasCall call;
  call.offset = {offset(shape.role_a, i, l), offset(shape.role_b, l, j), offset(shape.role_to, i, j)};
  call.first = l == 0;
  MatrixShape a = matrix_of(shape.role_a, i, l), b = matrix_of(shape.role_b, l, j),
              to = matrix_of(shape.role_to, i, j);
  const bool conjugates = is_complex(shape.to.dtype());
  bool of_a = conjugates && work.conjugate_a, of_b = conjugates && work.conjugate_b;
  call.exchanged = !kernels::blas_form(to).by_columns || (of_a && !kernels::blas_form(a).by_rows) ||
                   (of_b && !kernels::blas_form(b).by_rows);
  if (call.exchanged) {
    a = std::exchange(b, a.transposed()).transposed();
    to = to.transposed();
    std::swap(of_a, of_b);
  }
  call.what.result = shape.to.dtype();
  call.what.compute = work.compute;
  call.what.m = to.rows;
  call.what.n = to.columns;
  call.what.k = a.columns;
  call.what.a = factor_of(a, of_a, shape.a.dtype());
  call.what.b = factor_of(b, of_b, shape.a.dtype());
  call.what.leading = kernels::blas_factor(to, false).leading;
  return call;
}

void pad(BlasCall& call, const ProductPadding& padding) {
  devices::DeviceGemm& what = call.what;
  what.m = ProductPadding::of(what.m, call.exchanged ? padding.n : padding.m);
  what.n = ProductPadding::of(what.n, call.exchanged ? padding.m : padding.n);
  what.k = ProductPadding::of(what.k, padding.k);
}

Batch apart(const std::vector<Batch>& batches, std::size_t i) {
  Batch steps{};
  for (std::size_t x = 0; x < steps.size(); ++x) steps[x] = batches[i][x] - batches[i - 1][x];
  return steps;
}

/// How many of the first batches are evenly spaced, and equally many after them again and again; 1: none.
std::size_t even_run(const std::vector<Batch>& batches) {
  if (batches.size() < 2) return 1;
  const Batch steps = apart(batches, 1);
  if (steps[2] <= 0 || steps[0] < 0 || steps[1] < 0) return 1;
  std::size_t run = 1;
  while (run < batches.size() && apart(batches, run) == steps) ++run;
  if (batches.size() % run != 0) return 1;
  for (std::size_t i = 1; i < batches.size(); ++i) {
    if (i % run != 0 && apart(batches, i) != steps) return 1;
  }
  return run;
}

}  // namespace

BlasCalls blas_calls(const PackedMultiply& packed) {
  const ProductShape& shape = *packed.shape;
  const std::size_t run = even_run(shape.batches);
  const Batch steps = run > 1 ? apart(shape.batches, 1) : Batch{};
  BlasCalls all;
  for (std::size_t i = 0; i < shape.batches.size(); i += run) all.batches.push_back(shape.batches[i]);
  for (std::size_t l = 0; l < shape.k.chunks().size(); ++l) {
    for (std::size_t j = 0; j < shape.n.chunks().size(); ++j) {
      for (std::size_t i = 0; i < shape.m.chunks().size(); ++i) {
        BlasCall call = call_of(packed.work, shape, i, j, l);
        pad(call, packed.padding);
        call.what.batches = static_cast<std::int64_t>(run);
        call.what.a.stride = steps[call.exchanged ? 1 : 0];
        call.what.b.stride = steps[call.exchanged ? 0 : 1];
        call.what.stride = steps[2];
        all.calls.push_back(std::move(call));
      }
    }
  }
  return all;
}

}  // namespace partita::execution
