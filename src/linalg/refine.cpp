// Solutions by factors in lower precision, refined.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/elementwise.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

#include "base/check.hpp"
#include "linalg/correction.hpp"
#include "linalg/low_factors.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace linear {
namespace {

/// One after the other; a larger basis takes memory and products.
constexpr int steps_of_gmres = 20;
/// That are corrected together, so that they share the reading of A and of the factors.
constexpr std::int64_t columns_of_gmres = 16;

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

double largest_of(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) {
    if (!(number <= largest)) largest = number;  // also NaN, which stays
  }
  return largest;
}

class Refiner {
 public:
  /// Norms that are not finite cannot be refined.
  Refiner(const Array& a, const Array& b, const RefineOptions& options, SourcePlace where)
      : a_(a), options_(options), where_(where) {
    b_ = redistribute(b, Slab(0), {.space = a.local().space}, where);
    for (const auto number : numbers_of(norm(a, {1}, {.distribution = Replicated()})))
      norms_.rows.push_back(number.real());
    for (const double row : norms_.rows) norm_of_a_ = std::hypot(norm_of_a_, row);
    norms_of_b_ = norms_of_columns(b_);
    const auto n = static_cast<double>(a.shape()[0]);
    limit_ = epsilon_of(a.dtype());
    tolerance_ = options.tolerance > 0 ? options.tolerance : std::sqrt(std::max(n, 1.0)) * limit_;
  }

  /// X in the working layout; nothing if it does not converge, and `refinement().reason` says why.
  std::optional<Array> refine() {
    if (!std::isfinite(norm_of_a_) || !all_finite(norms_of_b_))
      return give_up("A or B contains NaN or infinity, or its norm overflows");
    if (!factorize()) return std::nullopt;
    refine_by_steps();
    const std::int64_t count = std::ranges::count_if(errors_, [&](double error) { return !accepts(error); });
    if (count > std::max<std::int64_t>(columns_of_gmres, a_.shape()[0] / 64))
      return give_up(fmt::format("{} right-hand sides converge slowly", count));
    if (count > 0) refine_by_gmres();
    found_.backward_error = largest_of(errors_);
    if (accepts(found_.backward_error)) return x_;
    return give_up(fmt::format("the backward error is {:.1e} after {} corrections, and {:.1e} is required",
                               found_.backward_error, found_.iterations, tolerance_));
  }

  /// Of any X. Collective.
  double backward_error(const Array& x) const {
    const Array own = redistribute(x, Slab(0), {.space = a_.local().space}, where_);
    return largest_of(errors_of(own, norms_of_columns(residual_of(own, b_)), norms_of_b_));
  }

  Refinement& refinement() { return found_; }

 private:
  bool accepts(double error) const { return error <= tolerance_; }  // never NaN

  std::nullopt_t give_up(std::string reason) {
    found_.fell_back = true;
    found_.reason = std::move(reason);
    return std::nullopt;
  }

  bool factorize() {
    norms_.columns = norms_of_columns(a_);
    try {
      factors_.emplace(options_.method, a_, norms_, options_.compute, where_);
      return true;
    } catch (const SingularError& error) {
      give_up(fmt::format("the matrix in {} is singular or not positive definite",
                          name(lower_dtype(a_.dtype()))));
      return false;
    }
  }

  Array product(const Array& x) const {
    return matmul(a_, x, {.op_a = options_.op, .distribution = Slab(0), .space = a_.local().space});
  }
  Array residual_of(const Array& x, const Array& b) const {
    return matmul(a_, x, b,
                  {.op_a = options_.op,
                   .alpha = -1,
                   .beta = 1,
                   .distribution = b.layout().distribution(),
                   .space = a_.local().space});
  }
  /// Backward errors, column by column, of residuals with these norms.
  std::vector<double> errors_of(const Array& x, std::vector<double> errors,
                                const std::vector<double>& norms_of_b) const {
    const std::vector<double> sizes = norms_of_columns(x);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      if (errors[c] != 0) errors[c] /= norm_of_a_ * sizes[c] + norms_of_b[c];
    }
    return errors;
  }
  Array approximation(const Array& b, const std::vector<double>& norms) const {
    return factors_->solve(b, norms, options_.op);
  }

  /// Iterative refinement, as long as a step halves the error, of all columns together.
  void refine_by_steps() {
    x_ = approximation(b_, norms_of_b_);
    Array residual = residual_of(x_, b_);
    std::vector<double> norms = norms_of_columns(residual);
    errors_ = errors_of(x_, norms, norms_of_b_);
    while (largest_of(errors_) > limit_ && found_.iterations < options_.iterations) {
      const Array next = x_ + approximation(residual, norms);
      ++found_.iterations;
      residual = residual_of(next, b_);
      norms = norms_of_columns(residual);
      const std::vector<double> errors = errors_of(next, norms, norms_of_b_);
      const bool is_better = largest_of(errors) < largest_of(errors_),
                 is_fast = largest_of(errors) < largest_of(errors_) / 2;
      if (is_better) {
        x_ = next;
        errors_ = errors;
      }
      if (!is_fast) return;
    }
  }

  void refine_by_gmres() {
    if (b_.shape().size() == 1) return refine_columns(0, 1);
    const std::int64_t count = b_.shape()[1];
    for (std::int64_t first = 0; first < count; first += columns_of_gmres)
      refine_columns(first, std::min(columns_of_gmres, count - first));
  }

  Array columns_of(const Array& array, std::int64_t first, std::int64_t count) const {
    if (array.shape().size() == 1) return array;
    return array.window({0, first}, {array.shape()[0], count});
  }

  /// Cycles of GMRES, as long as each halves the error.
  void refine_columns(std::int64_t first, std::int64_t count) {
    const auto begin = static_cast<std::size_t>(first), end = begin + static_cast<std::size_t>(count);
    const auto part = [&](const std::vector<double>& numbers) {
      return std::vector<double>(numbers.begin() + first, numbers.begin() + first + count);
    };
    std::vector<double> errors = part(errors_);
    if (accepts(largest_of(errors))) return;
    Array x = columns_of(x_, first, count);
    const Array b = clone(columns_of(b_, first, count));
    const std::vector<double> norms_of_b = part(norms_of_b_);
    const Preconditioned system{[&](const Array& columns) { return product(columns); },
                                [&](const Array& columns, const std::vector<double>& norms) {
                                  return approximation(columns, norms);
                                }};
    Gmres gmres(b, steps_of_gmres);
    Array residual = residual_of(x, b);
    for (bool is_fast = true; is_fast && found_.iterations < options_.iterations;) {
      std::vector<double> targets = norms_of_columns(x);
      for (std::size_t c = 0; c < targets.size(); ++c)
        targets[c] = limit_ / 4 * (norm_of_a_ * targets[c] + norms_of_b[c]);
      const Array next = x + gmres.solve(system, residual, targets, options_.iterations - found_.iterations);
      found_.iterations += gmres.steps_taken();
      residual = residual_of(next, b);
      const std::vector<double> found = errors_of(next, norms_of_columns(residual), norms_of_b);
      const double before = largest_of(errors), after = largest_of(found);
      is_fast = after < before / 2 && after > limit_;
      if (!(after < before)) break;
      copy(next, x);
      errors = found;
    }
    for (std::size_t c = begin; c < end; ++c) errors_[c] = errors[c - begin];
  }

  Array a_;
  RefineOptions options_;
  SourcePlace where_;
  Array b_, x_;  // in the working layout: Slab(0), in the memory space of A
  LowFactors::Norms norms_;
  double norm_of_a_ = 0;
  std::vector<double> norms_of_b_, errors_;
  double limit_ = 0;      // of what rounding permits
  double tolerance_ = 0;  // of what is accepted
  std::optional<LowFactors> factors_;
  Refinement found_;
};

void check_refined(const Array& a, const Array& b, const RefineOptions& options) {
  constexpr std::string_view operation = "solve_refined";
  check(a.valid(), "{}: A holds no array", operation);
  ContextState& context = *a.context_state();
  context.require_usable(operation);
  runtime::collectively(context, operation, [&]() -> std::vector<Fact> {
    check_matrix(operation, "A", a.operand());
    check(a.shape()[0] == a.shape()[1], "{}: A must be square, but its shape is {}", operation,
          to_string(a.shape()));
    check_right_hand_sides(operation, context, a.dtype(), a.shape()[0], b);
    check(options.method != Factorization::qr, "{}: the method is qr, but must be lu or cholesky", operation);
    check(options.tolerance >= 0 && options.iterations >= 0,
          "{}: a tolerance of {} and {} iterations; both must be at least 0", operation, options.tolerance,
          options.iterations);
    return {{"A", a.operand().to_string()},
            {"B", b.operand().to_string()},
            {"options", fmt::format("{} by {} computed in {}, tolerance {}, {} iterations", name(options.op),
                                    factorization_name(options.method), name(options.compute),
                                    options.tolerance, options.iterations)}};
  });
}

Array solve_in_full(const Array& a, const Array& b, const RefineOptions& options, SourcePlace where) {
  const FactorOptions how{.memory_limit = options.memory_limit};
  if (options.method == Factorization::cholesky) return Cholesky(a, how, where).solve(b, options, where);
  return Lu(a, how, where).solve(b, options, where);
}

/// In the layout and the memory that the caller asks for.
Array result_of(const Array& x, const Array& b, const RefineOptions& options, SourcePlace where) {
  const RedistributeOptions memory{.order = options.order,
                                   .residency = options.residency,
                                   .space = options.space.value_or(b.local().space)};
  if (options.distribution) return redistribute(x, *options.distribution, memory, where);
  if (b.layout().partial()) return redistribute(x, Slab(0), memory, where);
  return redistribute(x, b.layout(), memory, where);
}

}  // namespace
}  // namespace linear

RefinedSolution solve_refined(const Array& a, const Array& b, const RefineOptions& options,
                              SourcePlace where) {
  const runtime::PublicCall call("solve_refined");
  linear::check_refined(a, b, options);
  if (options.stream) a.context().synchronize(options.stream);
  RefineOptions blocking = options;
  blocking.stream = {};
  if (volume(b.shape()) == 0) return {linear::solve_in_full(a, b, blocking, where), {}};
  const Array whole = a.layout().partial() ? redistribute(a, Slab(0), {}, where) : a;
  linear::Refiner refiner(whole, b, blocking, where);
  if (const std::optional<Array> x = refiner.refine())
    return {linear::result_of(*x, b, blocking, where), refiner.refinement()};
  Array x = linear::solve_in_full(whole, b, blocking, where);
  refiner.refinement().backward_error = refiner.backward_error(x);
  return {std::move(x), refiner.refinement()};
}

}  // namespace partita
