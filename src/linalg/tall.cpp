#include "linalg/tall.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "context/plan_key.hpp"
#include "linalg/factors.hpp"
#include "linalg/numbers.hpp"
#include "linalg/operation.hpp"
#include "linalg/panels.hpp"
#include "linalg/results.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

using execution::ArrayUse;
using execution::Operation;

bool suits_tall(const Array& a, const Array& b, const SolveOptions& options) {
  const Operand &matrix = a.state()->operand, &sides = b.state()->operand;
  return is_tall(matrix) && !options.stream && matrix.space == sides.space &&
         options.space.value_or(sides.space) == sides.space;
}

namespace {

void add_measures(TallMethod method, const Operand& a, std::vector<ArrayUse>& uses) {
  const TallMeasureOperands measures = tall_measures(a);
  const auto add = [&](std::string_view name, const Operand& operand) {
    uses.push_back({.name = name, .operand = operand, .read = false, .written = true});
  };
  add("the first Gram matrix", measures.gram);
  add("the last Gram matrix", measures.gram);
  add("the status", measures.status);
  if (method == TallMethod::inverses) add("the inverse of R", measures.gram);
}

/// Of the rows of `inverse` times the norms of the columns of A, and of as many columns of norm 1.
double condition_of(const Numbers& gram, const Numbers& inverse, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < n; ++j) row += std::norm(inverse[i * n + j]);
    sum += gram[i * (n + 1)].real() * row;
  }
  return std::sqrt(sum * static_cast<double>(n));
}

TallMeasures measures_of(const std::vector<Array>& measured) {
  const Numbers first = numbers_of(measured[0]), last = numbers_of(measured[1]);
  const auto n = static_cast<std::size_t>(measured[0].shape()[0]);
  TallMeasures measures;
  double distance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    measures.squares += first[i * (n + 1)].real();
    for (std::size_t j = 0; j < n; ++j) distance += std::norm(last[i * n + j] - (i == j ? 1.0 : 0.0));
  }
  measures.distance = std::sqrt(distance);
  const Array status = arrays::on_host(measured[2]);
  const std::span<const std::int32_t> of_rounds(status.data<std::int32_t>(), 3);
  measures.is_definite = std::ranges::all_of(of_rounds, [](std::int32_t one) { return one == 0; });
  if (measured.size() > 3) measures.condition = condition_of(first, numbers_of(measured[3]), n);
  return measures;
}

/// Executes CholeskyQR of `a`, whose operation has these arrays, by the methods from `method` on. False: none
/// of them suits the matrix, which is left to reflectors. All ranks decide as the most cautious one.
template <class MakeOperation>
bool run_cholesky_qr(const Array& a, std::vector<const Array*> arrays, TallMethod method,
                     const MakeOperation& make_operation, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = a.context_state();
  const std::size_t given = arrays.size();
  double shift = 0;
  while (method != TallMethod::reflectors) {
    const std::shared_ptr<LinearOperation> operation = make_operation(method);
    std::vector<Array> measured;
    for (std::size_t use = given; use < given + (method == TallMethod::inverses ? 4 : 3); ++use)
      measured.push_back(operation->result(context, use, operation->purpose(), where));
    arrays.resize(given);
    for (const Array& one : measured) arrays.push_back(&one);
    operation->run(arrays, {.alpha = shift}, std::nullopt);
    const TallMeasures measures = measures_of(measured);
    const std::optional<TallMethod> next = next_tall_method(method, a.shape()[1], measures);
    int decision = next ? static_cast<int>(*next) : -1;
    if (context->size() > 1) decision = runtime::largest_of_ranks(*context, "tall qr", decision);
    if (decision < 0) return true;
    method = static_cast<TallMethod>(decision);
    shift = shift_of(a.shape(), a.dtype(), measures.squares);
  }
  return false;
}

/// `plan(A, Q, R, topology, rank)`
template <class MakePlan>
LinearRequest qr_request(const Operand& a, const MakePlan& plan) {
  check_factorized(Factorization::qr, a);
  const std::int64_t n = a.layout.shape()[1];
  const Operand q = operand_like(a, a.layout.shape()), r = operand_like(a, {n, n});
  return {.uses = {{.name = "A", .operand = a},
                   {.name = "Q", .operand = q, .read = false, .written = true},
                   {.name = "R", .operand = r, .read = false, .written = true}},
          .plan = [=](const Topology& topology, int rank) { return plan(a, q, r, topology, rank); }};
}

/// `plan(A, B, X, topology, rank)`
template <class MakePlan>
LinearRequest least_squares_request(const ContextState& context, const Operand& a, const Operand& b,
                                    const SolveOptions& options, const MakePlan& plan) {
  const Operand x = solution_operand(context, "lstsq", b, a.layout.shape()[1], options);
  return {.uses = {{.name = "A", .operand = a},
                   {.name = "B", .operand = b, .axes = axes_of_columns(b)},
                   {.name = "X", .operand = x, .read = false, .written = true, .axes = axes_of_columns(x)}},
          .plan = [=, b = as_columns(b), x = as_columns(x)](const Topology& topology, int rank) {
            return plan(a, b, x, topology, rank);
          }};
}

QrFactors tall_qr_by_reflectors(const Array& a, SourcePlace where) {
  if (!suits_tsqr(a.state()->operand)) {
    const Qr factors(a, {}, where);
    return {factors.q(where), factors.r(where)};
  }
  const std::shared_ptr<ContextState>& context = a.context_state();
  const Operand& matrix = a.state()->operand;
  contexts::PlanKey key("tall qr");
  key.add(matrix);
  const auto operation =
      Operation::kept<LinearOperation>(*context, key, "qr", [&] { return qr_request(matrix, plan_tall_qr); });
  QrFactors factors{operation->result(context, 1, operation->purpose(), where),
                    operation->result(context, 2, operation->purpose(), where)};
  const std::array<const Array*, 3> arrays{&a, &factors.q, &factors.r};
  operation->run(arrays, {}, std::nullopt);
  return factors;
}

}  // namespace

QrFactors tall_qr(const Array& a, TallMethod first, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = a.context_state();
  const Operand& matrix = a.state()->operand;
  const auto make_operation = [&](TallMethod method) {
    contexts::PlanKey key("CholeskyQR");
    key.add(matrix, method);
    return Operation::kept<LinearOperation>(*context, key, "qr", [&]() -> LinearRequest {
      LinearRequest request =
          qr_request(matrix, [method](const auto&... given) { return plan_cholesky_qr(method, given...); });
      add_measures(method, matrix, request.uses);
      return request;
    });
  };
  QrFactors factors;
  if (first != TallMethod::reflectors) {
    const auto operation = make_operation(first);
    factors = {operation->result(context, 1, operation->purpose(), where),
               operation->result(context, 2, operation->purpose(), where)};
  }
  if (run_cholesky_qr(a, {&a, &factors.q, &factors.r}, first, make_operation, where)) return factors;
  factors = {};
  return tall_qr_by_reflectors(a, where);
}

namespace {

/// R is replicated.
void require_full_rank(const Array& r) {
  const std::int64_t n = r.shape()[0];
  const Numbers numbers = numbers_of(r);
  for (std::int64_t i = 0; i < n; ++i) {
    if (numbers[static_cast<std::size_t>(i * (n + 1))] == 0.0) throw_singular("lstsq", "R", i);
  }
}

Array solve_by_reflectors(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const Operand &matrix = a.state()->operand, &sides = b.state()->operand;
  if (!suits_tsqr(matrix)) return Qr(a, {}, where).solve(b, options, where);
  const std::shared_ptr<ContextState>& context = a.context_state();
  contexts::PlanKey key("tall lstsq");
  key.add(matrix, sides, options.distribution, options.order, options.residency);
  const auto operation = Operation::kept<LinearOperation>(*context, key, "lstsq", [&]() -> LinearRequest {
    const std::int64_t n = matrix.layout.shape()[1];
    const Operand r = on_heap(Layout(Replicated(), {n, n}, context->size()), matrix.dtype, matrix.space);
    LinearRequest request = least_squares_request(
        *context, matrix, sides, options,
        [r](const Operand& of_a, const Operand& of_b, const Operand& x, const Topology& topology, int rank) {
          return plan_tall_least_squares(of_a, of_b, x, r, topology, rank);
        });
    request.uses.push_back({.name = "R", .operand = r, .read = false, .written = true});
    return request;
  });
  Array x = operation->result(context, 2, operation->purpose(), where),
        r = operation->result(context, 3, operation->purpose(), where);
  const std::array<const Array*, 4> arrays{&a, &b, &x, &r};
  operation->run(arrays, {}, std::nullopt);
  require_full_rank(r);
  return x;
}

}  // namespace

Array tall_least_squares(const Array& a, const Array& b, const SolveOptions& options, TallMethod first,
                         SourcePlace where) {
  const std::shared_ptr<ContextState>& context = a.context_state();
  const Operand &matrix = a.state()->operand, &sides = b.state()->operand;
  const auto make_operation = [&](TallMethod method) {
    contexts::PlanKey key("CholeskyQR lstsq");
    key.add(matrix, sides, method, options.distribution, options.order, options.residency);
    return Operation::kept<LinearOperation>(*context, key, "lstsq", [&]() -> LinearRequest {
      LinearRequest request = least_squares_request(
          *context, matrix, sides, options,
          [method](const auto&... given) { return plan_cholesky_qr_least_squares(method, given...); });
      add_measures(method, matrix, request.uses);
      return request;
    });
  };
  Array x;
  if (first != TallMethod::reflectors) {
    const auto operation = make_operation(first);
    x = operation->result(context, 2, operation->purpose(), where);
  }
  if (run_cholesky_qr(a, {&a, &b, &x}, first, make_operation, where)) return x;
  x = {};
  return solve_by_reflectors(a, b, options, where);
}

}  // namespace partita::linear
