// Systems, factors, inverses and determinants of many matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "kernels/host/factorizations.hpp"
#include "kernels/host/lapack_library.hpp"
#include "kernels/host/reflectors.hpp"
#include "linalg/batches.hpp"
#include "linalg/facts.hpp"
#include "linalg/numbers.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace linear {
namespace {

using kernels::ColumnMatrix;
using Addresses = BatchJob::Addresses;

template <class T>
ColumnMatrix<T> matrix_at(void* data, std::int64_t m, std::int64_t n) {
  return {static_cast<T*>(data), m, n, std::max<std::int64_t>(m, 1)};
}

std::int64_t matrix_rows(const Array& a) {
  return a.shape()[a.shape().size() - 2];
}
std::int64_t matrix_columns(const Array& a) {
  return a.shape()[a.shape().size() - 1];
}

/// Checks of this rank, after which A and what `check_others` returns are the same on all ranks.
template <class Check>
void check_batch_together(std::string_view operation, const Array& a, const Check& check_others) {
  ContextState& context = *a.context_state();
  context.require_usable(operation);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    const std::string others = check_others();
    return {{"A", a.operand().to_string()}, {"B and the options", others}};
  });
}

void check_batch_together(std::string_view operation, const Array& a, bool square) {
  check_batch_together(operation, a, [&] {
    check_batch(operation, a, square);
    return std::string();
  });
}

BatchPlace like_matrices(const Array& a) {
  const Operand operand = a.operand();
  const int last = operand.layout.dimensions() - 1;
  const bool by_rows = operand.axis_order.empty() || operand.axis_order[last] == last;
  return {.order = by_rows ? Order::row_major : Order::column_major};
}

// --- LU of one matrix

template <class T>
void factorize_or_throw(std::string_view operation, const ColumnMatrix<T>& a,
                        std::vector<std::int32_t>& pivots) {
  pivots.resize(static_cast<std::size_t>(a.rows));
  if (a.rows == 0) return;
  const std::int32_t info = kernels::factor_lu(a, pivots.data());
  if (info > 0) throw_singular(operation, "U", info - 1);
}

/// By the factors.
template <class T>
void solve_with_lu(const ColumnMatrix<T>& lu, const std::vector<std::int32_t>& pivots, Op op,
                   const ColumnMatrix<T>& x) {
  if (x.rows == 0 || x.columns == 0) return;
  const auto count = static_cast<std::int64_t>(pivots.size());
  const kernels::TriangularForm lower{.op = op, .unit_diagonal = true}, upper{.op = op, .upper = true};
  if (!transposes(op)) kernels::exchange_rows(x, pivots.data(), count, false);
  kernels::solve_triangular(transposes(op) ? upper : lower, lu.read(), x);
  kernels::solve_triangular(transposes(op) ? lower : upper, lu.read(), x);
  if (transposes(op)) kernels::exchange_rows(x, pivots.data(), count, true);
}

template <class T>
struct DeterminantOfOne {
  T sign = 1;
  kernels::RealType<T> log_absolute = 0;
};

template <class T>
DeterminantOfOne<T> determinant_of(const ColumnMatrix<T>& a) {
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(a.rows));
  DeterminantOfOne<T> result;
  if (a.rows == 0) return result;
  (void)kernels::factor_lu(a, pivots.data());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const T pivot = a.data[i + i * a.leading];
    const auto size = std::abs(pivot);
    result.sign *= size == 0 ? T(0) : pivot / size;
    if (pivots[static_cast<std::size_t>(i)] != i) result.sign = -result.sign;
    result.log_absolute += std::log(size);
  }
  return result;
}

/// The Q of a matrix, in reflectors as geqrf stores them.
template <class T>
class QrOfOne {
 public:
  explicit QrOfOne(const ColumnMatrix<T>& a)
      : a_(a),
        tau_(static_cast<std::size_t>(std::min(a.rows, a.columns))),
        work_(static_cast<std::size_t>(
            std::max(kernels::factor_qr_workspace<T>(a.rows, a.columns),
                     Block::workspace(Block::most_reflectors, Block::most_columns)))) {
    kernels::factor_qr(a_, tau_.data(), work_.data());
  }

  /// to = Q to, or Q^H to. `is_unit`: `to` is the unit matrix.
  void apply(const ColumnMatrix<T>& to, bool adjoint, bool is_unit = false) {
    const std::int64_t width = Block::most_reflectors, k = std::min(a_.rows, a_.columns),
                       blocks = (k + width - 1) / width;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t first = (adjoint ? i : blocks - 1 - i) * width;
      const std::int64_t count = std::min(width, k - first), rows = a_.rows - first;
      const Block block(a_.part(first, first, rows, count).read(), tau_.data() + first, work_.data());
      for (std::int64_t column = is_unit ? first : 0; column < to.columns; column += Block::most_columns) {
        const std::int64_t columns = std::min<std::int64_t>(Block::most_columns, to.columns - column);
        block.apply(to.part(first, column, rows, columns), adjoint);
      }
    }
  }

 private:
  using Block = kernels::BlockReflector<T>;

  ColumnMatrix<T> a_;
  std::vector<T> tau_, work_;
};

/// Q [m, k] and R [k, n] of A, which is overwritten.
template <class T>
void factorize_qr(const ColumnMatrix<T>& a, const ColumnMatrix<T>& q, const ColumnMatrix<T>& r) {
  const std::int64_t k = std::min(a.rows, a.columns);
  std::fill_n(q.data, q.rows * q.columns, T(0));
  std::fill_n(r.data, r.rows * r.columns, T(0));
  if (k == 0) return;
  QrOfOne<T> factors(a);
  for (std::int64_t j = 0; j < a.columns; ++j)
    std::copy_n(a.data + j * a.leading, std::min(j + 1, k), r.data + j * r.leading);
  for (std::int64_t j = 0; j < k; ++j) q.data[j + j * q.leading] = 1;
  factors.apply(q, false, true);
}

/// A job whose local part is `body(TypeTag<T>, inputs, outputs)`.
template <class Body>
std::function<void(Addresses, Addresses)> of_dtype(Dtype dtype, const Body& body) {
  return kernels::visit_lapack_dtype(dtype, "factorization", [&]<class T>(TypeTag<T> tag) {
    return std::function<void(Addresses, Addresses)>(
        [body, tag](Addresses inputs, Addresses outputs) { body(tag, inputs, outputs); });
  });
}

/// B for batches: a vector or a matrix for all, or one for each.
void check_sides_of_batch(std::string_view operation, const Array& a, const Array& b) {
  check(b.valid(), "{}: B holds no array", operation);
  check(b.context_state() == a.context_state(), "{}: A and B belong to different contexts", operation);
  check(b.dtype() == a.dtype(), "{}: A is {}, but B is {}; convert one of them with astype", operation,
        name(a.dtype()), name(b.dtype()));
  const Shape &of_a = a.shape(), &of_b = b.shape();
  const std::int64_t m = matrix_rows(a);
  bool fits = of_b.size() == 1 ? of_b[0] == m : of_b.size() >= 2 && matrix_rows(b) == m;
  if (of_b.size() > 2) {
    fits = fits && of_b.size() == of_a.size();
    for (int d = 0; fits && d < of_a.size() - 2; ++d) fits = of_a[d] == of_b[d];
  }
  check(
      fits,
      "{}: with A of shape {}, B must be [{}], [{}, r] or [.., {}, r] with A's leading dimensions, but it is "
      "{}",
      operation, to_string(of_a), m, m, m, to_string(of_b));
}

/// One system: X [n, r] of a matrix [m, n], which may be overwritten, and of B [m, r].
struct System {
  std::int64_t m = 0, n = 0, r = 0;
};

/// `solve_one(matrix, b, x)` by one rank, or `together` by all.
template <class SolveOne>
Array run_systems(std::string_view operation, const Array& a, const Array& b, const SolveOptions& options,
                  bool square, const SolveOne& solve_one,
                  const std::function<Array(const Array& a, const Array& b)>& together, SourcePlace where) {
  check_batch_together(operation, a, [&] {
    check_batch(operation, a, square);
    check_sides_of_batch(operation, a, b);
    check<UnsupportedError>(!options.stream || a.operand().space == MemorySpace::device,
                            "{}: a stream is given, but A is in host memory", operation);
    return fmt::format("{}, op {}", b.operand().to_string(), name(options.op));
  });
  if (options.stream) a.context().synchronize(options.stream);
  const bool is_vector = b.shape().size() == 1;
  const System system{matrix_rows(a), matrix_columns(a), is_vector ? 1 : matrix_columns(b)};
  BatchJob job{.operation = operation, .inputs = {a, b}};
  job.outputs = {{is_vector ? Shape{system.n} : Shape{system.n, system.r}, a.dtype()}};
  job.local = of_dtype(a.dtype(), [=]<class T>(TypeTag<T>, Addresses inputs, Addresses outputs) {
    solve_one(matrix_at<T>(inputs[0], system.m, system.n), matrix_at<const T>(inputs[1], system.m, system.r),
              matrix_at<T>(outputs[0], system.n, system.r));
  });
  job.together = [&](const std::vector<Array>& one) { return std::vector{together(one[0], one[1])}; };
  const BatchPlace place{.distribution = options.distribution,
                         .order = options.order,
                         .residency = options.residency,
                         .space = options.space.value_or(b.local().space)};
  return run_batch(job, place, where)[0];
}

template <class T>
void copy_elements(const ColumnMatrix<const T>& from, const ColumnMatrix<T>& to) {
  std::copy_n(from.data, from.rows * from.columns, to.data);
}

template <class T>
void throw_zero_on_diagonal(std::string_view operation, std::string_view factor, const ColumnMatrix<T>& t) {
  for (std::int64_t i = 0; i < std::min(t.rows, t.columns); ++i) {
    if (t.data[i * (t.leading + 1)] == T(0)) throw_singular(operation, factor, i);
  }
}

/// The least X, in the first n of its rows, for A [m, n], m >= n, in place of B; or for `adjoint` the
/// smallest X with A^H X = B, from the first n rows.
template <class T>
void solve_with_qr(const ColumnMatrix<T>& a, const ColumnMatrix<T>& x, bool adjoint) {
  if (a.columns == 0 || x.columns == 0) return;
  QrOfOne<T> factors(a);
  throw_zero_on_diagonal("lstsq", "R", a);
  const auto solve_r = [&] {
    kernels::solve_triangular<T>({.op = adjoint ? Op::conjugate_transpose : Op::none, .upper = true},
                                 a.part(0, 0, a.columns, a.columns).read(),
                                 x.part(0, 0, a.columns, x.columns));
  };
  if (adjoint) solve_r();
  factors.apply(x, !adjoint);
  if (!adjoint) solve_r();
}

template <class T>
void least_squares_of_one(const ColumnMatrix<T>& a, const ColumnMatrix<const T>& b,
                          const ColumnMatrix<T>& x) {
  const std::int64_t m = a.rows, n = a.columns;
  if (m >= n) {
    std::vector<T> rows(b.data, b.data + m * b.columns);
    const ColumnMatrix<T> y = matrix_at<T>(rows.data(), m, b.columns);
    solve_with_qr(a, y, false);
    for (std::int64_t j = 0; j < b.columns; ++j)
      std::copy_n(y.data + j * y.leading, n, x.data + j * x.leading);
    return;
  }
  std::vector<T> adjoint(static_cast<std::size_t>(m * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      const T element = a.data[i + j * a.leading];
      if constexpr (std::is_floating_point_v<T>) {
        adjoint[static_cast<std::size_t>(j + i * n)] = element;
      } else {
        adjoint[static_cast<std::size_t>(j + i * n)] = std::conj(element);
      }
    }
  }
  std::fill_n(x.data, n * x.columns, T(0));
  for (std::int64_t j = 0; j < b.columns; ++j) std::copy_n(b.data + j * b.leading, m, x.data + j * x.leading);
  solve_with_qr(matrix_at<T>(adjoint.data(), n, m), x, true);
}

}  // namespace

Array solve_batch(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const auto solve_one = [op = options.op]<class T>(const ColumnMatrix<T>& lu,
                                                    const ColumnMatrix<const T>& of_b,
                                                    const ColumnMatrix<T>& x) {
    std::vector<std::int32_t> pivots;
    factorize_or_throw("solve", lu, pivots);
    copy_elements(of_b, x);
    solve_with_lu(lu, pivots, op, x);
  };
  const auto together = [&](const Array& one, const Array& of_b) {
    return solve(one, of_b, {.op = options.op}, where);
  };
  return run_systems("solve", a, b, options, true, solve_one, together, where);
}

Array solve_triangular_batch(const Array& t, const Array& b, const TriangularOptions& options,
                             SourcePlace where) {
  const kernels::TriangularForm form{
      .op = options.op, .upper = options.upper, .unit_diagonal = options.unit_diagonal};
  const auto solve_one = [form]<class T>(const ColumnMatrix<T>& triangle, const ColumnMatrix<const T>& of_b,
                                         const ColumnMatrix<T>& x) {
    if (!form.unit_diagonal) throw_zero_on_diagonal("solve_triangular", "T", triangle);
    copy_elements(of_b, x);
    if (x.rows > 0 && x.columns > 0) kernels::solve_triangular(form, triangle.read(), x);
  };
  const auto together = [&](const Array& one, const Array& of_b) {
    TriangularOptions how;
    how.op = options.op;
    how.upper = options.upper;
    how.unit_diagonal = options.unit_diagonal;
    return solve_triangular(one, of_b, how, where);
  };
  return run_systems("solve_triangular", t, b, options, true, solve_one, together, where);
}

Array lstsq_batch(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const auto solve_one = []<class T>(const ColumnMatrix<T>& one, const ColumnMatrix<const T>& of_b,
                                     const ColumnMatrix<T>& x) { least_squares_of_one(one, of_b, x); };
  const auto together = [&](const Array& one, const Array& of_b) { return lstsq(one, of_b, {}, where); };
  return run_systems("lstsq", a, b, options, false, solve_one, together, where);
}

Array cholesky_batch(const Array& a, SourcePlace where) {
  check_batch_together("cholesky", a, true);
  const std::int64_t n = matrix_rows(a);
  BatchJob job{.operation = "cholesky", .inputs = {a}, .outputs = {{{n, n}, a.dtype()}}};
  job.local = of_dtype(a.dtype(), [=]<class T>(TypeTag<T>, Addresses inputs, Addresses outputs) {
    const auto l = matrix_at<T>(outputs[0], n, n);
    std::copy_n(static_cast<const T*>(inputs[0]), n * n, l.data);
    const std::int32_t order = n == 0 ? 0 : kernels::factor_cholesky(l);
    if (order > 0) throw_indefinite(order - 1);
    for (std::int64_t j = 0; j < n; ++j) std::fill_n(l.data + j * n, j, T(0));
  });
  job.together = [&](const std::vector<Array>& one) { return std::vector{cholesky(one[0], where)}; };
  return run_batch(job, like_matrices(a), where)[0];
}

Array inverse_batch(const Array& a, SourcePlace where) {
  check_batch_together("inverse", a, true);
  const std::int64_t n = matrix_rows(a);
  BatchJob job{.operation = "inverse", .inputs = {a}, .outputs = {{{n, n}, a.dtype()}}};
  job.local = of_dtype(a.dtype(), [=]<class T>(TypeTag<T>, Addresses inputs, Addresses outputs) {
    std::vector<std::int32_t> pivots;
    const auto lu = matrix_at<T>(inputs[0], n, n), x = matrix_at<T>(outputs[0], n, n);
    factorize_or_throw("inverse", lu, pivots);
    std::fill_n(x.data, n * n, T(0));
    for (std::int64_t i = 0; i < n; ++i) x.data[i + i * n] = 1;
    solve_with_lu(lu, pivots, Op::none, x);
  });
  job.together = [&](const std::vector<Array>& one) { return std::vector{inverse(one[0], where)}; };
  return run_batch(job, like_matrices(a), where)[0];
}

QrFactors qr_batch(const Array& a, SourcePlace where) {
  check_batch_together("qr", a, false);
  const std::int64_t m = matrix_rows(a), n = matrix_columns(a), k = std::min(m, n);
  BatchJob job{.operation = "qr", .inputs = {a}, .outputs = {{{m, k}, a.dtype()}, {{k, n}, a.dtype()}}};
  job.local = of_dtype(a.dtype(), [=]<class T>(TypeTag<T>, Addresses inputs, Addresses outputs) {
    factorize_qr(matrix_at<T>(inputs[0], m, n), matrix_at<T>(outputs[0], m, k),
                 matrix_at<T>(outputs[1], k, n));
  });
  job.together = [&](const std::vector<Array>& one) {
    const QrFactors found = qr(one[0], where);
    return std::vector{found.q, found.r};
  };
  const std::vector<Array> found = run_batch(job, like_matrices(a), where);
  return {found[0], found[1]};
}

}  // namespace linear

LogDeterminants log_determinants(const Array& a, SourcePlace where) {
  const runtime::PublicCall call("log_determinants");
  check(a.valid(), "log_determinants: A holds no array");
  linear::check_batch_together("log_determinants", a, [&] {
    check(a.shape().size() > 2, "log_determinants: the shape {} has no leading dimensions; use slogdet",
          to_string(a.shape()));
    linear::check_batch("log_determinants", a, true);
    return std::string();
  });
  const std::int64_t n = linear::matrix_rows(a);
  const bool single = a.dtype() == Dtype::f32 || a.dtype() == Dtype::c64;
  const Dtype real = single ? Dtype::f32 : Dtype::f64;
  linear::BatchJob job{
      .operation = "log_determinants", .inputs = {a}, .outputs = {{{}, a.dtype()}, {{}, real}}};
  job.local = linear::of_dtype(
      a.dtype(), [=]<class T>(TypeTag<T>, linear::Addresses inputs, linear::Addresses outputs) {
        const auto found = linear::determinant_of(linear::matrix_at<T>(inputs[0], n, n));
        *static_cast<T*>(outputs[0]) = found.sign;
        *static_cast<kernels::RealType<T>*>(outputs[1]) = found.log_absolute;
      });
  job.together = [&](const std::vector<Array>& one) {
    const LogDeterminant found = slogdet(one[0]);
    const Array sign = linear::replicated_numbers(one[0], {}, {found.sign});
    Array logarithm = empty(a.context(), {}, Replicated(), real, {.space = a.local().space});
    linear::write_numbers({found.log_absolute}, logarithm);
    return std::vector{sign, logarithm};
  };
  const std::vector<Array> found = linear::run_batch(job, linear::like_matrices(a), where);
  return {found[0], found[1]};
}

}  // namespace partita
