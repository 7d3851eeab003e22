#include "eigen/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "eigen/eigh.hpp"
#include "kernels/host/eigen_solvers.hpp"
#include "linalg/batches.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::eigen {
namespace {

using Addresses = linear::BatchJob::Addresses;

/// The matrices, which are the values of A if it is partial.
Array checked_batch(std::string_view operation, const Array& a, bool square, const EigenOptions& options) {
  ContextState& context = *a.context_state();
  context.require_usable(operation);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    linear::check_batch(operation, a, square);
    return {{"A", a.operand().to_string()}, fact_of(operation, options, a.shape())};
  });
  Array whole = a.layout().partial() ? redistribute(a, Slab(0)) : a;
  check_finite(operation, whole);
  return whole;
}

linear::BatchPlace in_the_order_of(const Array& a) {
  const Operand operand = a.operand();
  const int last = operand.layout.dimensions() - 1;
  const bool by_rows = operand.axis_order.empty() || operand.axis_order[last] == last;
  return {.order = by_rows ? Order::row_major : Order::column_major};
}

/// to = the lower triangle of A, or the adjoint of its upper one.
template <class T>
void copy_triangle(const T* a, std::int64_t n, bool upper, T* to) {
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      const T number = upper ? a[j + i * n] : a[i + j * n];
      if constexpr (std::is_same_v<T, kernels::RealType<T>>) {
        to[i + j * n] = number;
      } else {
        to[i + j * n] = upper ? std::conj(number) : number;
      }
    }
  }
}

template <class T>
kernels::ColumnMatrix<T> columns_at(void* data, std::int64_t m, std::int64_t n) {
  return {static_cast<T*>(data), m, n, std::max<std::int64_t>(m, 1)};
}

}  // namespace

EigenFactors eigen_of_batch(std::string_view operation, const Array& given, const EigenOptions& options,
                            bool vectors, SourcePlace where) {
  const Array a = checked_batch(operation, given, true, options);
  const std::int64_t n = a.shape()[a.shape().size() - 1];
  const EigenRange range = range_of(options, n);
  linear::BatchJob job{
      .operation = operation, .inputs = {a}, .outputs = {{{range.count()}, Matrices(a).real_dtype()}}};
  if (vectors) job.outputs.push_back({{n, range.count()}, a.dtype()});
  kernels::visit_lapack_dtype(a.dtype(), "eigenvalues", [&]<class T>(TypeTag<T> /*tag*/) {
    job.local = [=, upper = options.upper](Addresses inputs, Addresses outputs) {
      if (n == 0) return;
      auto* const values = static_cast<kernels::RealType<T>*>(outputs[0]);
      const bool in_place = vectors && range.count() == n;
      std::vector<T> triangle(in_place ? 0 : static_cast<std::size_t>(n * n));
      T* const to = in_place ? static_cast<T*>(outputs[1]) : triangle.data();
      copy_triangle(static_cast<const T*>(inputs[0]), n, upper, to);
      const auto matrix = columns_at<T>(to, n, n);
      if (in_place) return kernels::eigen_hermitian(matrix, values, true);
      if (vectors)
        return kernels::some_eigenvectors(matrix, range.first, values,
                                          columns_at<T>(outputs[1], n, range.count()));
      std::vector<kernels::RealType<T>> all(static_cast<std::size_t>(n));
      kernels::eigen_hermitian(matrix, all.data(), false);
      std::copy(all.begin() + range.first, all.begin() + range.behind, values);
    };
  });
  job.together = [&](const std::vector<Array>& one) {
    if (!vectors) return std::vector{eigvalsh(one[0], options, where)};
    const EigenFactors found = eigh(one[0], options, where);
    return std::vector{found.values, found.vectors};
  };
  const std::vector<Array> found = linear::run_batch(job, in_the_order_of(a), where);
  return {found[0], vectors ? found[1] : Array()};
}

SvdFactors svd_of_batch(std::string_view operation, const Array& given, const EigenOptions& options,
                        bool vectors, SourcePlace where) {
  const Array a = checked_batch(operation, given, false, options);
  const int last = a.shape().size() - 1;
  const std::int64_t m = a.shape()[last - 1], n = a.shape()[last], k = std::min(m, n);
  linear::BatchJob job{.operation = operation, .inputs = {a}, .outputs = {{{k}, Matrices(a).real_dtype()}}};
  if (vectors) {
    job.outputs.push_back({{m, k}, a.dtype()});
    job.outputs.push_back({{k, n}, a.dtype()});
  }
  kernels::visit_lapack_dtype(a.dtype(), "singular values", [&]<class T>(TypeTag<T> /*tag*/) {
    job.local = [=](Addresses inputs, Addresses outputs) {
      const auto matrix = columns_at<T>(inputs[0], m, n);
      const auto u = vectors ? columns_at<T>(outputs[1], m, k) : kernels::ColumnMatrix<T>();
      const auto vh = vectors ? columns_at<T>(outputs[2], k, n) : kernels::ColumnMatrix<T>();
      kernels::singular_values(matrix, static_cast<kernels::RealType<T>*>(outputs[0]), vectors, u, vh);
    };
  });
  job.together = [&](const std::vector<Array>& one) {
    if (!vectors) return std::vector{svdvals(one[0], options, where)};
    const SvdFactors found = svd(one[0], options, where);
    return std::vector{found.values, found.u, found.vh};
  };
  const std::vector<Array> found = linear::run_batch(job, in_the_order_of(a), where);
  return vectors ? SvdFactors{found[1], found[0], found[2]} : SvdFactors{{}, found[0], {}};
}

}  // namespace partita::eigen
