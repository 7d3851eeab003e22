// The one-line calls.
#include <partita/create.hpp>

#include "array/pairs.hpp"
#include "base/check.hpp"
#include "linalg/batches.hpp"
#include "linalg/factors.hpp"
#include "linalg/tall.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {

using linear::Factors;

namespace {

/// Before the matrix is factorized. Throws the same ArgumentError on every rank.
void check_system(std::string_view operation, const Array& a, const Array& b, bool square) {
  check(a.valid(), "{}: A holds no array", operation);
  ContextState& context = *a.context_state();
  context.require_usable(operation);
  runtime::check_or_tell_all(context, operation, [&] {
    linear::check_matrix(operation, "A", a.state()->operand);
    check(!square || a.shape()[0] == a.shape()[1], "{}: A must be square, but its shape is {}", operation,
          to_string(a.shape()));
    linear::check_right_hand_sides(operation, context, a.dtype(), a.shape()[0], b);
  });
}

/// Of a tall matrix.
linear::TallMethod first_method(const Array& a, bool forms_q) {
  const ContextState& context = *a.context_state();
  const Operand& matrix = a.state()->operand;
  return linear::choose_tall_method(matrix, forms_q, context.topology(matrix.space), context.machine);
}

}  // namespace

Array solve(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const runtime::PublicCall call("solve");
  if (linear::is_batch(a)) return linear::solve_batch(a, b, options, where);
  check_system("solve", a, b, true);
  return Lu(a, {.memory_limit = options.memory_limit}, where).solve(b, options, where);
}

Array cholesky(const Array& a, SourcePlace where) {
  const runtime::PublicCall call("cholesky");
  if (linear::is_batch(a)) return linear::cholesky_batch(a, where);
  return Cholesky(a, {}, where).lower(where);
}

QrFactors qr(const Array& a, SourcePlace where) {
  const runtime::PublicCall call("qr");
  if (linear::is_batch(a)) return linear::qr_batch(a, where);
  check(a.valid(), "qr: the matrix holds no array");
  if (linear::is_tall(a.state()->operand)) {
    a.context_state()->require_usable("qr");
    return linear::tall_qr(a, first_method(a, true), where);
  }
  const Qr factors(a, {}, where);
  return {factors.q(where), factors.r(where)};
}

Array inverse(const Array& a, SourcePlace where) {
  const runtime::PublicCall call("inverse");
  if (linear::is_batch(a)) return linear::inverse_batch(a, where);
  const Factors factors(Factorization::lu, a, {}, where);
  return factors.inverse(where);
}

LogDeterminant slogdet(const Array& a) {
  const runtime::PublicCall call("slogdet");
  return Lu(a).log_determinant();
}

Array solve_triangular(const Array& t, const Array& b, const TriangularOptions& options, SourcePlace where) {
  const runtime::PublicCall call("solve_triangular");
  if (linear::is_batch(t)) return linear::solve_triangular_batch(t, b, options, where);
  check(t.valid(), "solve_triangular: the matrix holds no array");
  ContextState& context = *t.context_state();
  context.require_usable("solve_triangular");
  runtime::check_or_tell_all(context, "solve_triangular", [&] {
    linear::check_matrix("solve_triangular", "T", t.state()->operand);
    check(t.shape()[0] == t.shape()[1], "solve_triangular: T must be square, but its shape is {}",
          to_string(t.shape()));
  });
  // Factors without pivots; the other triangle is never read.
  const Factors factors(Factorization::cholesky, Factors::Given{t, {}, true}, where);
  if (!options.unit_diagonal) {
    const std::int64_t zero = factors.find_zero();
    if (zero >= 0) linear::throw_singular("solve_triangular", "T", zero);
  }
  using Kind = linear::Pass::Kind;
  const linear::Pass pass{options.upper ? Kind::upper : Kind::lower, options.op, options.unit_diagonal};
  const std::int64_t n = t.shape()[0];
  return factors.apply({"solve_triangular", {pass}, n, n}, b, options, where);
}

Array lstsq(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const runtime::PublicCall call("lstsq");
  const bool is_batch = linear::is_batch(a);
  if (!is_batch) check_system("lstsq", a, b, false);
  runtime::check_or_tell_all(*a.context_state(), "lstsq", [&] {
    check(options.op == Op::none, "lstsq: op is {}, but must be none", name(options.op));
  });
  if (is_batch) return linear::lstsq_batch(a, b, options, where);
  if (linear::suits_tall(a, b, options))
    return linear::tall_least_squares(a, b, options, first_method(a, false), where);
  if (a.shape()[0] >= a.shape()[1])
    return Qr(a, {.memory_limit = options.memory_limit}, where).solve(b, options, where);
  return linear::least_norm(a, b, options, where);
}

}  // namespace partita
