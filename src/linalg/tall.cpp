#include "linalg/tall.hpp"

#include <algorithm>
#include <array>

#include "context/plan_key.hpp"
#include "linalg/factors.hpp"
#include "linalg/numbers.hpp"
#include "linalg/operation.hpp"
#include "linalg/panels.hpp"
#include "linalg/results.hpp"

namespace partita::linear {

using execution::Operation;

bool suits_tall(const Array& a, const Array& b, const SolveOptions& options) {
  const Operand &matrix = a.state()->operand, &sides = b.state()->operand;
  return is_tall(matrix) && !options.stream && matrix.space == sides.space &&
         options.space.value_or(sides.space) == sides.space;
}

QrFactors tall_qr(const Array& a, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = a.context_state();
  context->require_usable("qr");
  const Operand& matrix = a.state()->operand;
  contexts::PlanKey key("tall qr");
  key.add(matrix);
  const auto operation = Operation::kept<LinearOperation>(*context, key, "qr", [&]() -> LinearRequest {
    check_factorized(Factorization::qr, matrix);
    const std::int64_t n = matrix.layout.shape()[1];
    const Operand q = operand_like(matrix, matrix.layout.shape()), r = operand_like(matrix, {n, n});
    return {.uses = {{.name = "A", .operand = matrix},
                     {.name = "Q", .operand = q, .read = false, .written = true},
                     {.name = "R", .operand = r, .read = false, .written = true}},
            .plan = [matrix, q, r](const Topology& topology, int rank) {
              return plan_tall_qr(matrix, q, r, topology, rank);
            }};
  });
  QrFactors factors{operation->result(context, 1, operation->purpose(), where),
                    operation->result(context, 2, operation->purpose(), where)};
  const std::array<const Array*, 3> arrays{&a, &factors.q, &factors.r};
  operation->run(arrays, {}, std::nullopt);
  return factors;
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

}  // namespace

Array tall_least_squares(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where) {
  const std::shared_ptr<ContextState>& context = a.context_state();
  const Operand &matrix = a.state()->operand, &sides = b.state()->operand;
  contexts::PlanKey key("tall lstsq");
  key.add(matrix, sides, options.distribution, options.order, options.residency);
  const auto operation = Operation::kept<LinearOperation>(*context, key, "lstsq", [&]() -> LinearRequest {
    const std::int64_t n = matrix.layout.shape()[1];
    const Operand x = solution_operand(*context, "lstsq", sides, n, options),
                  r = on_heap(Layout(Replicated(), {n, n}, context->size()), matrix.dtype, matrix.space);
    return {
        .uses = {{.name = "A", .operand = matrix},
                 {.name = "B", .operand = sides, .axes = axes_of_columns(sides)},
                 {.name = "X", .operand = x, .read = false, .written = true, .axes = axes_of_columns(x)},
                 {.name = "R", .operand = r, .read = false, .written = true}},
        .plan = [matrix, b = as_columns(sides), x = as_columns(x), r](const Topology& topology, int rank) {
          return plan_tall_least_squares(matrix, b, x, r, topology, rank);
        }};
  });
  Array x = operation->result(context, 2, operation->purpose(), where),
        r = operation->result(context, 3, operation->purpose(), where);
  const std::array<const Array*, 4> arrays{&a, &b, &x, &r};
  operation->run(arrays, {}, std::nullopt);
  require_full_rank(r);
  return x;
}

}  // namespace partita::linear
