#include "eigen/direct.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/device_factorizations.hpp"
#include "device/device_memory.hpp"
#include "device/device_synchronization.hpp"
#include "kernels/host/eigen_solvers.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::eigen {
namespace {

constexpr int computing_rank = 0;

Layout on_one_rank(std::int64_t rows, std::int64_t columns, int ranks) {
  return Layout(Slab(0), {rows, columns}, 1).embedded(std::array{computing_rank}, ranks);
}

/// What that rank computes.
Array empty_there(const Matrices& matrices, std::int64_t rows, std::int64_t columns) {
  return empty(matrices.context(), on_one_rank(rows, columns, matrices.context().size()), matrices.dtype(),
               {.residency = Residency::ordinary, .order = Order::column_major, .space = MemorySpace::host});
}

/// All of a matrix, in ordinary memory of one rank.
Array gathered(const Matrices& matrices, const Array& a, MemorySpace space) {
  return redistribute(a, on_one_rank(a.shape()[0], a.shape()[0], matrices.context().size()),
                      {.order = Order::column_major, .residency = Residency::ordinary, .space = space});
}

template <class T>
kernels::ColumnMatrix<T> columns_of(const Array& a) {
  const std::int64_t n = a.shape()[0];
  return {static_cast<T*>(a.local().data), n, a.shape()[1], std::max<std::int64_t>(n, 1)};
}

/// Values that one rank computes; what it throws all throw.
std::vector<double> on_computing_rank(const Matrices& matrices, std::string_view operation,
                                      const std::function<std::vector<double>()>& compute) {
  ContextState& state = *matrices.context().state();
  std::vector<double> values;
  runtime::collectively(state, operation, [&] {
    if (matrices.context().rank() == computing_rank) values = compute();
  });
  return runtime::exchange_values(state, operation, values)[computing_rank];
}

}  // namespace

// On one H200 cuSOLVER takes 0.6 s for 8192 rows, and the division 10 s.
std::int64_t base_rows(const Matrices& matrices, const EigenOptions& options) {
  if (options.base > 0) return options.base;
  if (matrices.space() == MemorySpace::device) return 32768;
  return matrices.context().size() < 8 ? 16384 : 1024;
}

std::int64_t base_rows_of_svd(const Matrices& matrices, const EigenOptions& options) {
  const std::int64_t rows = base_rows(matrices, options);
  return matrices.space() == MemorySpace::device ? std::min<std::int64_t>(rows, 512) : rows;
}

namespace {

template <class T>
std::vector<double> eigen_on_host(const Array& whole, bool vectors) {
  std::vector<kernels::RealType<T>> found(static_cast<std::size_t>(whole.shape()[0]));
  kernels::eigen_hermitian(columns_of<T>(whole), found.data(), vectors);
  return {found.begin(), found.end()};
}

template <class T>
std::vector<double> some_on_host(const Array& whole, EigenRange range, const Array& vectors) {
  std::vector<kernels::RealType<T>> found(static_cast<std::size_t>(range.count()));
  kernels::some_eigenvectors(columns_of<T>(whole), range.first, found.data(), columns_of<T>(vectors));
  return {found.begin(), found.end()};
}

template <class T>
std::vector<double> eigen_on_device(const Array& whole, bool vectors) {
  using Real = kernels::RealType<T>;
  ContextState& state = *whole.context_state();
  devices::DeviceFactorizations* const library = state.device->factorizations();
  check<UnsupportedError>(library != nullptr,
                          "eigh: no library of factorizations is available for this device: {}",
                          state.device->why_no_factorizations());
  const std::int64_t n = whole.shape()[0];
  const devices::DeviceMemory values(*state.device, n * size_of(dtype_of<Real>()));
  library->eigen_hermitian(whole.dtype(), n, whole.local().data, values.data(), vectors,
                           devices::stream_or_own(state, std::nullopt));
  std::vector<Real> found(static_cast<std::size_t>(n));
  View from = View::dense(values.data(), dtype_of<Real>(), {n});
  from.space = MemorySpace::device;
  arrays::copy_view(state, from, view(found));
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<double> direct_eigen(const Matrices& matrices, const Array& a, EigenRange range, Array* vectors) {
  const std::int64_t n = a.shape()[0];
  const bool on_device = matrices.space() == MemorySpace::device, all = range.count() == n;
  const Array whole = gathered(matrices, a, matrices.space());
  const bool some = vectors != nullptr && !all && !on_device;
  const Array those = some ? empty_there(matrices, n, range.count()) : whole;
  std::vector<double> values = on_computing_rank(matrices, "eigh", [&] {
    std::vector<double> result;
    if (n == 0) return result;
    kernels::visit_lapack_dtype(a.dtype(), "eigenvalues", [&]<class T>(TypeTag<T> /*tag*/) {
      result = some        ? some_on_host<T>(whole, range, those)
               : on_device ? eigen_on_device<T>(whole, vectors != nullptr)
                           : eigen_on_host<T>(whole, vectors != nullptr);
    });
    return result;
  });
  if (!some && !all) values = {values.begin() + range.first, values.begin() + range.behind};
  if (vectors != nullptr)
    *vectors = matrices.copied(some || all ? those : part(whole, 0, n, range.first, range.count()));
  return values;
}

std::vector<double> direct_svd(const Matrices& matrices, const Array& a, Array* u, Array* vh) {
  const Array whole = gathered(matrices, a, MemorySpace::host);
  const bool vectors = u != nullptr;
  const std::int64_t n = a.shape()[0];
  const Array whole_u = vectors ? empty_there(matrices, n, n) : whole,
              whole_vh = vectors ? empty_there(matrices, n, n) : whole;
  std::vector<double> values = on_computing_rank(matrices, "svd", [&] {
    std::vector<double> result;
    kernels::visit_lapack_dtype(a.dtype(), "singular values", [&]<class T>(TypeTag<T> /*tag*/) {
      std::vector<kernels::RealType<T>> found(static_cast<std::size_t>(a.shape()[0]));
      kernels::singular_values(columns_of<T>(whole), found.data(), vectors, columns_of<T>(whole_u),
                               columns_of<T>(whole_vh));
      result.assign(found.begin(), found.end());
    });
    return result;
  });
  if (vectors) {
    *u = matrices.copied(whole_u);
    *vh = matrices.copied(whole_vh);
  }
  return values;
}

}  // namespace partita::eigen
