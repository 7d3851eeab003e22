// Factors applied to right-hand sides.
#include <array>

#include "array/device_mirror.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "linalg/factors.hpp"
#include "linalg/results.hpp"
#include "plan/vectors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

using execution::Operation;

Operand as_columns(const Operand& operand) {
  return operand.layout.dimensions() == 1 ? planning::with_dimension(operand, 1) : operand;
}

std::vector<int> axes_of_columns(const Operand& operand) {
  return operand.layout.dimensions() == 1 ? std::vector<int>{0, -1} : std::vector<int>{};
}

Factors::Job Factors::solve_job(Op op) const {
  const std::int64_t m = shape()[0], n = shape()[1];
  const bool transposed = transposes(op);
  require_factorized();
  check(kind_ == Factorization::qr || m == n, "solve: A must be square, but its shape is {}",
        to_string(shape()));
  check(m >= n, "solve: a QR factorization solves for at least as many rows as columns, but A is {}",
        to_string(shape()));
  return {"solve", passes_of(kind_, op, matrix_.dtype), transposed ? n : m, transposed ? m : n};
}

Factors::Job Factors::checked_job(Op op) const {
  context_->require_usable("solve");
  Job job;
  runtime::check_or_tell_all(*context_, "solve", [&] { job = solve_job(op); });
  // All ranks know it; telling them would lose the index.
  if (first_zero_ >= 0) throw_singular("solve", kind_ == Factorization::qr ? "R" : "U", first_zero_);
  return job;
}

Factors::Job Factors::q_job(Op op) const {
  require_factorized();
  const bool adjoint = op == Op::conjugate_transpose || (op == Op::transpose && !is_complex(matrix_.dtype));
  check(adjoint || op == Op::none, "multiply_q: op is {}; supported are none and conjugate-transpose",
        partita::name(op));
  const Pass pass{Pass::Kind::reflectors, adjoint ? Op::conjugate_transpose : Op::none};
  return {"multiply_q", {pass}, shape()[0], shape()[0]};
}

void check_right_hand_sides(std::string_view operation, const ContextState& context, Dtype dtype,
                            std::int64_t rows, const Array& b) {
  check(b.valid(), "{}: B holds no array", operation);
  arrays::check_context(operation, context, "A", b, "B");
  const Operand& operand = b.state()->operand;
  check(operand.dtype == dtype, "{}: A is {}, but B is {}; convert one of them with astype", operation,
        name(dtype), name(operand.dtype));
  const Shape& shape = operand.layout.shape();
  check((shape.size() == 1 || shape.size() == 2) && shape[0] == rows,
        "{}: B must have the shape [{}] or [{}, r], but it is {}", operation, rows, rows, to_string(shape));
}

void Factors::check_sides(const Job& job, const Array& b) const {
  check_right_hand_sides(job.operation, *context_, matrix_.dtype, job.rows_of_b, b);
}

void Factors::check_sides_together(const Job& job, const Array& b) const {
  runtime::check_or_tell_all(*context_, job.operation, [&] { check_sides(job, b); });
}

std::shared_ptr<LinearOperation> Factors::make_job(const Job& job, const Operand& b,
                                                   const std::function<Operand()>& x,
                                                   const contexts::PlanKey& of_x, bool in_place,
                                                   const SolveOptions& options) const {
  contexts::PlanKey key(job.operation);
  key.add(kind_, panels_.width, factor(), b, of_x, in_place, options.memory_limit);
  for (const Pass& pass : job.passes) key.add(pass.kind, pass.op, pass.unit_diagonal, pass.exchanges);
  return Operation::kept<LinearOperation>(*context_, key, job.operation, [&]() -> LinearRequest {
    const Operand to = x();
    const Operand factors = factor(), pivots = pivots_.state()->operand;
    const MemorySpace space = space_of(factors, b, to);
    const auto planned = [&](const Operand& operand) { return arrays::as_planned(operand, space); };
    return {
        .uses = {{.name = "the factors", .operand = factors},
                 {.name = "the pivots", .operand = pivots},
                 {.name = "B", .operand = b, .read = true, .written = in_place, .axes = axes_of_columns(b)},
                 {.name = "X",
                  .operand = to,
                  .read = false,
                  .written = true,
                  .axes = axes_of_columns(to),
                  .same_as = in_place ? 2 : -1}},
        .stream = options.stream,
        .planned = [job, kind = kind_, how = options_of(panels_, {.memory_limit = options.memory_limit}),
                    machine = context_->machine, factors = planned(factors), b = as_columns(planned(b)),
                    x = as_columns(planned(to)), in_place,
                    kept_in = factor().space](const Topology& topology, int rank) {
          PlannedPasses made = plan_passes(job.operation, job.passes, kind, factors, b, x, topology, rank,
                                           how, machine, in_place, kept_in);
          return execution::Planned{.plan = std::move(made.plan), .solve = std::move(made.steps)};
        }};
  });
}

Array Factors::apply(const Job& job, const Array& b, const SolveOptions& options, SourcePlace where) const {
  check_sides_together(job, b);
  const Operand& of_b = b.state()->operand;
  const auto result = [&] {
    return solution_operand(*context_, job.operation, of_b, job.rows_of_x, options);
  };
  contexts::PlanKey key("new");
  key.add(options.distribution, options.order, options.residency, options.space.value_or(of_b.space),
          job.rows_of_x);
  const auto operation = make_job(job, of_b, result, key, false, options);
  Array x = operation->result(context_, 3, operation->purpose(), where);
  const std::array<const Array*, 4> arrays{&factor_, &pivots_, &b, &x};
  operation->run(arrays, {.alpha = -1}, options.stream);
  return x;
}

void Factors::apply_into(const Job& job, const Array& b, Array& x, const SolveOptions& options) const {
  const bool in_place = b.valid() && x.valid() && b.state() == x.state();
  const auto check_all = [&] {
    check_sides(job, b);
    check(x.valid(), "{}: X holds no array", job.operation);
    Shape shape = b.shape();
    shape[0] = job.rows_of_x;
    check(x.shape() == shape && x.dtype() == b.dtype(),
          "{}: X must be {} of shape {}, but it is {} of shape {}", job.operation, partita::name(b.dtype()),
          to_string(shape), partita::name(x.dtype()), to_string(x.shape()));
    arrays::check_same_context(job.operation, b, "B", x, "X");
    check(in_place || !arrays::overlap(b, x),
          "{}: B and X overlap in memory; X may be B itself, or apart from it", job.operation);
    check(!arrays::overlap(factor_, x), "{}: X overlaps the factors in memory", job.operation);
    arrays::check_written(job.operation, x);
  };
  if (b.valid() && x.valid()) {
    arrays::check_pair(*context_, job.operation, b, x, check_all);
  } else {
    runtime::check_or_tell_all(*context_, job.operation, check_all);
  }
  const Operand& to = x.state()->operand;
  contexts::PlanKey key("given");
  key.add(to);
  const auto operation = make_job(
      job, b.state()->operand, [&] { return to; }, key, in_place, options);
  const std::array<const Array*, 4> arrays{&factor_, &pivots_, &b, &x};
  operation->run(arrays, {.alpha = -1}, options.stream);
}

}  // namespace partita::linear
