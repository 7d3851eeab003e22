#include "eigen/direct.hpp"

#include <array>
#include <complex>
#include <functional>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "kernels/host/eigen_solvers.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::eigen {
namespace {

constexpr int computing_rank = 0;

Layout on_one_rank(std::int64_t n, int ranks) {
  return Layout(Slab(0), {n, n}, 1).embedded(std::array{computing_rank}, ranks);
}

/// All of a matrix, in ordinary host memory of one rank.
Array gathered(const Matrices& matrices, const Array& a) {
  return redistribute(
      a, on_one_rank(a.shape()[0], matrices.context().size()),
      {.order = Order::column_major, .residency = Residency::ordinary, .space = MemorySpace::host});
}

template <class T>
kernels::ColumnMatrix<T> columns_of(const Array& a) {
  const std::int64_t n = a.shape()[0];
  return {static_cast<T*>(a.local().data), n, n, std::max<std::int64_t>(n, 1)};
}

template <class Body>
void with_type(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::f32:
      return body(float{});
    case Dtype::f64:
      return body(double{});
    case Dtype::c64:
      return body(std::complex<float>{});
    default:
      return body(std::complex<double>{});
  }
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

std::int64_t base_rows(const Matrices& matrices, const EigenOptions& options) {
  if (options.base > 0) return options.base;
  if (matrices.space() == MemorySpace::device) return 512;
  const int ranks = matrices.context().size();
  return ranks < 8 ? 16384 : 1024;
}

std::vector<double> direct_eigen(const Matrices& matrices, const Array& a, Array* vectors) {
  const Array whole = gathered(matrices, a);
  std::vector<double> values = on_computing_rank(matrices, "eigh", [&] {
    std::vector<double> result;
    with_type(a.dtype(), [&]<class T>(T) {
      std::vector<kernels::RealType<T>> found(static_cast<std::size_t>(a.shape()[0]));
      kernels::eigen_hermitian(columns_of<T>(whole), found.data(), vectors != nullptr);
      result.assign(found.begin(), found.end());
    });
    return result;
  });
  if (vectors != nullptr) *vectors = matrices.copied(whole);
  return values;
}

std::vector<double> direct_svd(const Matrices& matrices, const Array& a, Array* u, Array* vh) {
  const Array whole = gathered(matrices, a);
  const bool vectors = u != nullptr;
  const auto beside = [&] {
    return empty(
        matrices.context(), whole.layout(), a.dtype(),
        {.residency = Residency::ordinary, .order = Order::column_major, .space = MemorySpace::host});
  };
  const Array whole_u = vectors ? beside() : whole, whole_vh = vectors ? beside() : whole;
  std::vector<double> values = on_computing_rank(matrices, "svd", [&] {
    std::vector<double> result;
    with_type(a.dtype(), [&]<class T>(T) {
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
