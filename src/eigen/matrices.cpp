#include "eigen/matrices.hpp"

#include <fmt/format.h>

#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/elementwise.hpp>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "linalg/conjugate.hpp"
#include "linalg/diagonal.hpp"
#include "linalg/facts.hpp"
#include "linalg/numbers.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::eigen {

using linear::Panels;

namespace {

ArrayOptions by_columns(MemorySpace space) {
  return {.order = Order::column_major, .space = space};
}

}  // namespace

Matrices::Matrices(const Array& like)
    : context_(like.context()), dtype_(like.dtype()), space_(like.local().space) {}

Distribution Matrices::distribution(std::int64_t rows, std::int64_t columns) const {
  Operand operand = Operand::of(Layout(Replicated(), {rows, columns}, context_.size()), dtype_);
  operand.space = space_;
  return linear::whole_columns(operand).layout().distribution();
}

Dtype Matrices::real_dtype() const {
  return dtype_ == Dtype::f32 || dtype_ == Dtype::c64 ? Dtype::f32 : Dtype::f64;
}

double Matrices::epsilon() const {
  return linear::epsilon_of(dtype_);
}

// --- new matrices

Array Matrices::empty(std::int64_t rows, std::int64_t columns) const {
  return partita::empty(context_, {rows, columns}, distribution(rows, columns), dtype_, by_columns(space_));
}

Array Matrices::unit(std::int64_t rows, std::int64_t columns) const {
  return eye(context_, rows, columns, distribution(rows, columns), dtype_, 0, by_columns(space_));
}

Array Matrices::copied(const Array& array) const {
  return redistribute(array, distribution(array.shape()[0], array.shape()[1]),
                      {.order = Order::column_major, .space = space_});
}

Array Matrices::result(const Array& own, const Array& like, SourcePlace where) const {
  const Operand operand = like.operand();
  const bool in_rows = operand.axis_order.size() < 2 || operand.axis_order[0] == 0;
  const bool same = own.shape() == like.shape() && !like.layout().partial();
  const Layout layout = same ? like.layout() : Layout(Slab(0), own.shape(), context_.size());
  return redistribute(own, layout,
                      {.order = in_rows ? Order::row_major : Order::column_major, .space = space_}, where);
}

Array Matrices::replicated(const std::vector<double>& values) const {
  Array result = partita::empty(context_, {static_cast<std::int64_t>(values.size())}, Replicated(),
                                real_dtype(), {.space = space_});
  ContextState& state = *context_.state();
  runtime::check_or_tell_all(state, "eigenvalues", [&] {
    const std::vector<float> narrow(values.begin(), values.end());
    const View from = real_dtype() == Dtype::f32 ? view(narrow) : view(values);
    arrays::copy_view(state, from, result.local());
  });
  return result;
}

// --- products

MatmulOptions Matrices::options(Op op_a, Op op_b, const Array& a, const Array& b) const {
  const bool transposed_a = op_a == Op::transpose || op_a == Op::conjugate_transpose;
  const bool transposed_b = op_b == Op::transpose || op_b == Op::conjugate_transpose;
  MatmulOptions options;
  options.op_a = op_a;
  options.op_b = op_b;
  options.distribution = distribution(a.shape()[transposed_a ? 1 : 0], b.shape()[transposed_b ? 0 : 1]);
  options.order = Order::column_major;
  return options;
}

Array Matrices::product(const Array& a, Op op_a, const Array& b, Op op_b, double alpha) const {
  MatmulOptions options = this->options(op_a, op_b, a, b);
  options.alpha = alpha;
  return matmul(a, b, options);
}

Array Matrices::product(const Array& a, Op op_a, const Array& b, Op op_b, double alpha, double beta,
                        const Array& c) const {
  MatmulOptions options = this->options(op_a, op_b, a, b);
  options.alpha = alpha;
  options.beta = beta;
  return matmul(a, b, c, options);
}

// --- Hermitian matrices

Array Matrices::adjoint(const Array& a) const {
  Array result = redistribute(a, distribution(a.shape()[1], a.shape()[0]),
                              {.axes = {1, 0}, .order = Order::column_major, .space = space_});
  linear::conjugate(result);
  return result;
}

Array Matrices::from_lower(const Array& a) const {
  Array lower = copied(a);
  const Panels panels = linear::whole_columns(lower.operand());
  linear::clear_other_triangle(lower, panels, true);
  Array upper = adjoint(lower);
  linear::clear_diagonal(upper, panels);
  lower += upper;
  return lower;
}

Array Matrices::hermitian_part(const Array& a) const {
  Array sum = adjoint(a);
  const Array own = copied(a);
  sum += own;
  scale(sum, 0.5);
  return sum;
}

std::vector<double> Matrices::diagonal(const Array& a) const {
  const auto mine = linear::local_diagonal(a, linear::whole_columns(a.operand()));
  std::vector<double> result(static_cast<std::size_t>(a.shape()[0]));
  for (const auto& elements : runtime::exchange_values(*context_.state(), "eigh", mine)) {
    for (const auto& [index, value] : elements) result[static_cast<std::size_t>(index)] = value.real();
  }
  return result;
}

Array Matrices::completed(const Array& columns) const {
  const Qr factors(columns);
  // Householder's reflections may have changed the signs.
  std::vector<double> signs = diagonal(copied(factors.r()));
  for (double& sign : signs) sign = sign < 0 ? -1 : 1;
  Array result = copied(factors.q());
  multiply(result, astype(replicated(signs), dtype_), result);
  return result;
}

// --- arguments

Array part(const Array& a, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  return a.window({row, column}, {rows, columns});
}

Fact fact_of(std::string_view operation, const EigenOptions& options, const Shape& shape) {
  const bool all = options.first == 0 && options.count == -1;
  check(all || operation.starts_with("eig"), "{}: `first` and `count` are options of eigh and eigvalsh",
        operation);
  const std::int64_t n = shape[shape.size() - 1], left = n - options.first;
  check(options.first >= 0 && left >= 0 && options.count >= -1 && options.count <= left,
        "{}: A has {} eigenvalues; {} of them from number {} on were asked for", operation, n,
        options.count < 0 ? left : options.count, options.first);
  return {"options", fmt::format("base {} first {} count {}{}", options.base, options.first, options.count,
                                 options.upper ? " upper" : "")};
}

void check_argument(std::string_view operation, const Array& a, bool square, const EigenOptions& options) {
  check(a.valid(), "{}: A holds no array", operation);
  ContextState& context = *a.context_state();
  context.require_usable(operation);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    linear::check_matrix(operation, "A", a.operand());
    check(!square || a.shape()[0] == a.shape()[1], "{}: A must be square, but its shape is {}", operation,
          to_string(a.shape()));
    return {{"A", a.operand().to_string()}, fact_of(operation, options, a.shape())};
  });
}

void check_finite(std::string_view operation, const Array& a) {
  const double size = norm<double>(a);
  check(std::isfinite(size), "{}: A contains NaN or infinity, or its norm is beyond the largest number",
        operation);
}

}  // namespace partita::eigen
