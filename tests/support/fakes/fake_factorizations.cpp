#include "support/fakes/fake_factorizations.hpp"

#include <algorithm>
#include <cstring>
#include <future>
#include <vector>

#include "base/check.hpp"
#include "base/visit_dtype.hpp"
#include "kernels/cuda/row_exchange.hpp"
#include "kernels/cuda/triangular_solve.hpp"
#include "kernels/host/eigen_solvers.hpp"
#include "kernels/host/factorizations.hpp"
#include "kernels/host/reflectors.hpp"
#include "support/fakes/fake_shared_solve.hpp"

namespace partita::testing {
namespace {

using devices::DeviceFactorization;
using devices::DeviceReflectors;
using devices::DeviceTriangularSolve;
using kernels::ColumnMatrix;

constexpr int spoiled = 0x7f;

/// Calls body(T()) with the type that computes.
template <class Body>
void with_lapack_type(Dtype dtype, const Body& body) {
  kernels::visit_lapack_dtype(dtype, "factorization on a fake device",
                              [&]<class T>(TypeTag<T> /*tag*/) { body(T()); });
}

template <class T>
ColumnMatrix<T> matrix(void* data, std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  check(rows > 0 && columns > 0 && leading >= rows, "a matrix of {} x {}, columns {} apart", rows, columns,
        leading);
  return {static_cast<T*>(data), rows, columns, leading};
}

template <class T>
ColumnMatrix<const T> matrix(const void* data, std::int64_t rows, std::int64_t columns,
                             std::int64_t leading) {
  return matrix<T>(const_cast<void*>(data), rows, columns, leading).read();
}

class FakeCall final : public devices::PreparedFactorCall {
 public:
  explicit FakeCall(const devices::FactorCall& call) : PreparedFactorCall(call) {
    with_lapack_type(dtype(), [&](auto type) {
      using T = decltype(type);
      std::int64_t elements = 1;
      if (const auto* const panel = std::get_if<DeviceFactorization>(&what)) {
        if (panel->kind == Factorization::qr) elements = kernels::factor_qr_workspace<T>(panel->m, panel->n);
      } else if (const auto* const some = std::get_if<DeviceReflectors>(&what)) {
        elements = kernels::BlockReflector<T>::workspace(some->k, some->n);
      }
      bytes_ = elements * size_of(dtype());
    });
  }

  std::int64_t workspace_bytes() const override { return bytes_; }
  Dtype dtype() const {
    return std::visit([](const auto& one) { return one.dtype; }, what);
  }

 private:
  std::int64_t bytes_ = 0;
};

template <class T>
void apply_reflectors(const DeviceReflectors& what, const void* reflectors, const void* factors, void* to,
                      void* workspace) {
  const kernels::BlockReflector<T> block(matrix<T>(reflectors, what.m, what.k, what.leading_reflectors),
                                         static_cast<const T*>(factors), static_cast<T*>(workspace));
  block.apply(matrix<T>(to, what.m, what.n, what.leading), what.adjoint);
}

template <class T>
std::int32_t factor_panel(const DeviceFactorization& what, void* panel, void* pivots, void* workspace) {
  const ColumnMatrix<T> a = matrix<T>(panel, what.m, what.n, what.leading);
  if (what.kind == Factorization::cholesky) return kernels::factor_cholesky(a);
  if (what.kind == Factorization::lu) return kernels::factor_lu(a, static_cast<std::int32_t*>(pivots));
  kernels::factor_qr(a, static_cast<T*>(pivots), static_cast<T*>(workspace));
  return 0;
}

kernels::cuda::RowExchange kernel_of(const devices::DeviceRowExchange& what) {
  kernels::cuda::RowExchange kernel;
  kernel.item_bytes = static_cast<int>(size_of(what.dtype));
  kernel.rows = what.m;
  kernel.columns = what.n;
  kernel.leading = what.leading;
  kernel.count = what.count;
  kernel.backward = what.backward;
  kernel.panel = what.panel;
  return kernel;
}

/// Of one column.
void exchange_chunk(const kernels::cuda::RowExchange& what, const kernels::cuda::ExchangeChunk& chunk,
                    const std::vector<std::int32_t>& pivots, char* column) {
  std::vector<char> held;
  std::vector<std::int32_t> rows;
  for (int number = 0; number < kernels::cuda::RowExchange::most_rows; ++number) {
    const std::int32_t to = kernels::cuda::row_touched(chunk, pivots.data(), number);
    if (to < 0) continue;
    const std::int32_t from = kernels::cuda::row_before(chunk, pivots.data(), what.backward, to);
    const char* const item = column + std::int64_t{from} * what.item_bytes;
    held.insert(held.end(), item, item + what.item_bytes);
    rows.push_back(to);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(column + std::int64_t{rows[i]} * what.item_bytes,
                held.data() + i * static_cast<std::size_t>(what.item_bytes),
                static_cast<std::size_t>(what.item_bytes));
  }
}

void exchange_here(const kernels::cuda::RowExchange& what) {
  std::fill_n(static_cast<char*>(what.workspace), row_exchange_bytes(what),
              static_cast<char>(spoiled));  // of no bytes: null
  for (int c = 0; c < chunks_of(what); ++c) {
    const kernels::cuda::ExchangeChunk chunk = chunk_of(what, c);
    std::vector<std::int32_t> pivots;
    for (int i = 0; i < chunk.count; ++i) pivots.push_back(valid_pivot(what, chunk.first + i));
    for (std::int64_t j = 0; j < what.columns; ++j)
      exchange_chunk(what, chunk, pivots, static_cast<char*>(what.data) + j * what.leading * what.item_bytes);
  }
}

}  // namespace

std::shared_ptr<devices::PreparedFactorCall> FakeFactorizations::prepare(const devices::FactorCall& what) {
  if (const auto* const some = std::get_if<DeviceReflectors>(&what)) {
    const devices::MostReflectors most = most_reflectors(some->m);
    check(some->k <= most.reflectors && some->n <= most.columns, "{} reflectors onto {} columns at once",
          some->k, some->n);
  }
  return std::make_shared<FakeCall>(what);
}

void FakeFactorizations::factor(const devices::PreparedFactorCall& call, void* panel, void* pivots,
                                void* status, void* workspace, Stream stream) {
  const auto what = std::get<DeviceFactorization>(call.what);
  const std::int64_t bytes = call.workspace_bytes();
  // Libraries launch several kernels for each column. Here fewer than a queue holds, in which none may block.
  constexpr std::int64_t most = 900;
  put_(stream, static_cast<int>(std::min<std::int64_t>(4 * what.n, most)), [=] {
    std::memset(workspace, spoiled, static_cast<std::size_t>(bytes));
    with_lapack_type(what.dtype, [&](auto type) {
      *static_cast<std::int32_t*>(status) = factor_panel<decltype(type)>(what, panel, pivots, workspace);
    });
  });
}

void FakeFactorizations::solve(const devices::PreparedFactorCall& call, const void* triangle, void* to,
                               void* workspace, Stream stream) {
  const auto what = std::get<DeviceTriangularSolve>(call.what);
  const std::int64_t bytes = call.workspace_bytes();
  check(what.op != Op::conjugate, "no BLAS conjugates what it does not transpose");
  put_(stream, 1, [=] {
    std::memset(workspace, spoiled, static_cast<std::size_t>(bytes));
    with_lapack_type(what.dtype, [&](auto type) {
      using T = decltype(type);
      const std::int64_t order = what.from_right ? what.n : what.m;
      kernels::solve_triangular<T>({what.op, what.upper, what.unit_diagonal, what.from_right},
                                   matrix<T>(triangle, order, order, what.leading_triangle),
                                   matrix<T>(to, what.m, what.n, what.leading));
    });
  });
}

void FakeFactorizations::apply(const devices::PreparedFactorCall& call, const void* reflectors,
                               const void* factors, void* to, void* workspace, Stream stream) {
  const auto what = std::get<DeviceReflectors>(call.what);
  put_(stream, 1, [=] {
    with_lapack_type(what.dtype, [&](auto type) {
      apply_reflectors<decltype(type)>(what, reflectors, factors, to, workspace);
    });
  });
}

void FakeFactorizations::eigen_hermitian(Dtype dtype, std::int64_t n, void* a, void* values, bool vectors,
                                         Stream stream) {
  std::promise<void> done;
  put_(stream, 1, [&] {
    with_lapack_type(dtype, [&](auto type) {
      using T = decltype(type);
      kernels::eigen_hermitian(matrix<T>(a, n, n, n), static_cast<kernels::RealType<T>*>(values), vectors);
    });
    done.set_value();
  });
  done.get_future().wait();
}

std::int64_t FakeFactorizations::workspace_bytes(const devices::DeviceRowExchange& what) const {
  return kernels::cuda::row_exchange_bytes(kernel_of(what));
}

void FakeFactorizations::exchange(const devices::DeviceRowExchange& what, const void* pivots, void* to,
                                  void* workspace, Stream stream) {
  kernels::cuda::RowExchange kernel = kernel_of(what);
  kernel.data = to;
  kernel.pivots = static_cast<const std::int32_t*>(pivots);
  kernel.workspace = workspace;
  put_(stream, 1, [kernel] { exchange_here(kernel); });
}

std::int64_t FakeFactorizations::shared_bytes(const devices::DeviceSharedSolve& what) const {
  std::int64_t bytes = 0;
  if (what.own.n > kernels::cuda::most_shared_sides) return bytes;
  with_lapack_type(what.own.dtype, [&](auto type) { bytes = FakeSharedSolve<decltype(type)>::bytes(what); });
  return bytes;
}

void FakeFactorizations::clear_words(void* words, std::int64_t bytes, Stream stream) {
  put_(stream, 1, [=] { std::memset(words, 0xff, static_cast<std::size_t>(bytes)); });
}

void FakeFactorizations::solve_shared(const devices::DeviceSharedSolve& what,
                                      const devices::SharedSolvePlaces& places, Stream stream) {
  with_lapack_type(what.own.dtype, [&](auto type) {
    put_(stream, 1,
         [work = FakeSharedSolve<decltype(type)>(what, places, wait_of_(stream))]() mutable { work.run(); });
  });
}

}  // namespace partita::testing
