#include "linear_calls.hpp"

#include <algorithm>
#include <partita/eigen.hpp>
#include <partita/linalg.hpp>
#include <partita/redistribute.hpp>
#include <partita/scalar.hpp>
#include <string>

namespace partita::python {

namespace {

using Matrices = std::span<const Array>;
using Results = std::span<Array>;

void run_solve(Matrices given, Results results, const LinearOptions& options) {
  Lu(given[0]).solve_into(given[1], results[0], {.op = options.op});
}

void run_lu(Matrices given, Results results, const LinearOptions&) {
  const Lu factors(given[0]);
  factors.packed_into(results[0]);
  redistribute_into(factors.pivots(), results[1]);
}

void run_lu_solve(Matrices given, Results results, const LinearOptions& options) {
  Lu::from_packed(given[0], given[1]).solve_into(given[2], results[0], {.op = options.op});
}

void put_determinant(const LogDeterminant& found, Results results) {
  alignas(std::complex<double>) std::byte bytes[sizeof(std::complex<double>)];
  const bool complex = results[0].dtype() == Dtype::c64 || results[0].dtype() == Dtype::c128;
  (complex ? Scalar(found.sign) : Scalar(found.sign.real())).write(results[0].dtype(), bytes);
  fill(results[0], static_cast<const void*>(bytes));
  Scalar(found.log_absolute).write(results[1].dtype(), bytes);
  fill(results[1], static_cast<const void*>(bytes));
}

void run_slogdet(Matrices given, Results results, const LinearOptions&) {
  put_determinant(slogdet(given[0]), results);
}

void run_lu_slogdet(Matrices given, Results results, const LinearOptions&) {
  put_determinant(Lu::from_packed(given[0], given[1]).log_determinant(), results);
}

/// The upper triangle of A is the lower one of its transpose, conj(A) = L L^H, so that A = U^H U with U =
/// L^T.
void run_cholesky(Matrices given, Results results, const LinearOptions& options) {
  const Array& a = given[0];
  const Array l = cholesky(options.upper ? a.permuted({1, 0}) : a);
  redistribute_into(options.upper ? l.permuted({1, 0}) : l, results[0]);
}

Op of_transposed(Op op) {
  switch (op) {
    case Op::none:
      return Op::transpose;
    case Op::transpose:
      return Op::none;
    case Op::conjugate:
      return Op::conjugate_transpose;
    case Op::conjugate_transpose:
      break;
  }
  return Op::conjugate;
}

/// X op(T) = B is op(T)^T X^T = B^T.
void run_triangular(Matrices given, Results results, const LinearOptions& options) {
  const bool right = options.right;
  const Array b = right ? given[1].permuted({1, 0}) : given[1];
  TriangularOptions how;
  how.op = right ? of_transposed(options.op) : options.op;
  how.upper = options.upper;
  how.unit_diagonal = options.unit_diagonal;
  const Array x = solve_triangular(given[0], b, how);
  redistribute_into(right ? x.permuted({1, 0}) : x, results[0]);
}

void run_qr(Matrices given, Results results, const LinearOptions&) {
  const QrFactors factors = qr(given[0]);
  redistribute_into(factors.q, results[0]);
  redistribute_into(factors.r, results[1]);
}

void run_eigh(Matrices given, Results results, const LinearOptions& options) {
  const EigenFactors found = eigh(given[0], {.upper = options.upper});
  redistribute_into(found.values, results[0]);
  redistribute_into(found.vectors, results[1]);
}

void run_svd(Matrices given, Results results, const LinearOptions&) {
  const SvdFactors found = svd(given[0]);
  redistribute_into(found.u, results[0]);
  redistribute_into(found.values, results[1]);
  redistribute_into(found.vh, results[2]);
}

void run_polar(Matrices given, Results results, const LinearOptions&) {
  const PolarFactors found = polar(given[0]);
  redistribute_into(found.u, results[0]);
  redistribute_into(found.h, results[1]);
}

struct LinearFunction {
  std::string_view name;
  std::size_t operands, results;
  void (*run)(Matrices, Results, const LinearOptions&);
};

constexpr LinearFunction linear_functions[] = {
    {"solve", 2, 1, run_solve},
    {"lu", 1, 2, run_lu},
    {"lu_solve", 3, 1, run_lu_solve},
    {"slogdet", 1, 2, run_slogdet},
    {"lu_slogdet", 2, 2, run_lu_slogdet},
    {"cholesky", 1, 1, run_cholesky},
    {"solve_triangular", 2, 1, run_triangular},
    {"qr", 1, 2, run_qr},
    {"eigh", 1, 2, run_eigh},
    {"svd", 1, 3, run_svd},
    {"polar", 1, 2, run_polar},
};

}  // namespace

void run_linear(std::string_view function, Matrices operands, Results results, const LinearOptions& options) {
  const auto* const found = std::ranges::find(linear_functions, function, &LinearFunction::name);
  if (found == std::end(linear_functions))
    throw ArgumentError("linalg: there is no function " + std::string(function));
  if (found->operands != operands.size() || found->results != results.size())
    throw ArgumentError(std::string(function) + ": expected " + std::to_string(found->operands) +
                        " operands and " + std::to_string(found->results) + " results, got " +
                        std::to_string(operands.size()) + " and " + std::to_string(results.size()));
  found->run(operands, results, options);
}

}  // namespace partita::python
