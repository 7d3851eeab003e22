#include "linalg/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "plan/moves.hpp"

namespace partita::linear {

std::string_view factorization_name(Factorization kind) {
  constexpr std::string_view names[]{"cholesky", "lu", "qr"};
  return names[static_cast<std::size_t>(kind)];
}

void check_matrix(std::string_view operation, std::string_view what, const Operand& a) {
  const Shape& shape = a.layout.shape();
  check(shape.size() == 2, "{}: {} must be a matrix, but its shape is {}", operation, what, to_string(shape));
  const bool computable =
      a.dtype == Dtype::f32 || a.dtype == Dtype::f64 || a.dtype == Dtype::c64 || a.dtype == Dtype::c128;
  check(computable, "{}: {} is {}; supported are f32, f64, c64 and c128: convert it with astype", operation,
        what, name(a.dtype));
}

void check_factorized(Factorization kind, const Operand& a) {
  const std::string_view operation = factorization_name(kind);
  check_matrix(operation, "A", a);
  const Shape& shape = a.layout.shape();
  check(kind != Factorization::cholesky || shape[0] == shape[1], "{}: A must be square, but its shape is {}",
        operation, to_string(shape));
}

bool transposes(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

void check_compute(Factorization kind, Dtype dtype, ComputeType compute) {
  const bool single = dtype == Dtype::f32 || dtype == Dtype::c64;
  const bool suits =
      compute == ComputeType::automatic ||
      (single ? compute == ComputeType::f32 || compute == ComputeType::tf32 || compute == ComputeType::bf16x9
              : compute == ComputeType::f64);
  check<UnsupportedError>(suits, "{}: cannot compute in {} with a matrix of {}: supported: {}",
                          factorization_name(kind), name(compute), name(dtype),
                          single ? "f32, tf32, bf16x9" : "f64");
}

std::int64_t staging_within(std::int64_t limit, int redistributions, int ranks) {
  constexpr std::int64_t least_of_peer = 4096;  // a limit below that is refused as a whole
  if (limit <= 0) return 0;
  return std::max(limit / 2 / redistributions, least_of_peer * ranks);
}

void check_memory(const Plan& plan, std::int64_t limit) {
  check(limit >= 0, "{}: memory_limit must not be negative, but is {}", plan.operation, limit);
  const std::int64_t bytes = planning::scratch_bytes(plan);
  check(limit == 0 || bytes <= limit,
        "{}: a memory limit of {} bytes is too small: rank {} requires {} bytes of scratch with {}",
        plan.operation, limit, plan.rank, bytes, plan.reason);
}

void throw_singular(std::string_view operation, std::string_view factor, std::int64_t index) {
  throw SingularError(
      fmt::format("{}: A is singular: element ({}, {}) of {} is 0", operation, index, index, factor), index);
}

void throw_indefinite(std::int64_t index) {
  throw SingularError(
      fmt::format("cholesky: A is not positive definite: its leading minor of order {} is not positive",
                  index + 1),
      index);
}

void check_sides(Factorization kind, const Operand& a, const Operand& b, const Operand& x, Op op) {
  const std::int64_t m = a.layout.shape()[0], n = a.layout.shape()[1];
  check(kind == Factorization::qr ? m >= n : m == n, "solve: A must {}, but its shape is {}",
        kind == Factorization::qr ? "have at least as many rows as columns" : "be square",
        to_string(a.layout.shape()));
  for (const Operand* const side : {&b, &x}) {
    const bool is_long = transposes(op) == (side == &x);
    check(side->dtype == a.dtype && side->layout.dimensions() == 2 &&
              side->layout.shape()[0] == (is_long ? m : n) && side->layout.shape()[1] == b.layout.shape()[1],
          "solve: A is {}, {} is {}", a.to_string(), side == &b ? "B" : "X", side->to_string());
  }
}

TriangularSolve Pass::solve(Part triangle, Part to) const {
  TriangularSolve work;
  work.triangle = std::move(triangle);
  work.to = std::move(to);
  work.op = op;
  work.upper = kind == Kind::upper;
  work.unit_diagonal = unit_diagonal;
  return work;
}

Multiply Pass::subtract(Part panel, Part from, Part to, Beta beta) const {
  Multiply work;
  work.a = std::move(panel);
  work.b = std::move(from);
  work.to = std::move(to);
  work.transpose_a = transposes();
  work.conjugate_a = op == Op::conjugate || op == Op::conjugate_transpose;
  work.beta = beta;
  return work;
}

std::string to_string(const std::vector<Pass>& passes) {
  constexpr std::array<std::string_view, 3> kinds{"lower", "upper", "reflectors"};
  std::string text;
  for (const Pass& pass : passes) {
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", kinds[static_cast<std::size_t>(pass.kind)],
                        name(pass.op), pass.unit_diagonal ? " unit" : "", pass.exchanges ? " exchanged" : "");
  }
  return text;
}

std::vector<Pass> passes_of(Factorization kind, Op op, Dtype dtype) {
  using Kind = Pass::Kind;
  if (kind == Factorization::cholesky) {
    // A^H = A = L L^H and A^T = conj(A).
    const bool conjugate = op == Op::transpose || op == Op::conjugate;
    const Op of_l = conjugate ? Op::conjugate : Op::none;
    return {{Kind::lower, of_l}, {Kind::lower, conjugate ? Op::transpose : Op::conjugate_transpose}};
  }
  if (kind == Factorization::lu) {
    const Pass lower{Kind::lower, op, true, true}, upper{Kind::upper, op};
    return transposes(op) ? std::vector{upper, lower} : std::vector{lower, upper};
  }
  check<UnsupportedError>(
      !is_complex(dtype) || op == Op::none || op == Op::conjugate_transpose,
      "solve with a QR factorization in {}: op is {}; supported are none and conjugate-transpose",
      name(dtype), name(op));
  const Pass adjoint{Kind::reflectors, Op::conjugate_transpose}, q{Kind::reflectors, Op::none};
  if (transposes(op)) return {{Kind::upper, Op::conjugate_transpose}, q};
  return {adjoint, {Kind::upper, Op::none}};
}

}  // namespace partita::linear
