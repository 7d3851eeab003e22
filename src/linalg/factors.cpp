#include "linalg/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <partita/redistribute.hpp>

#include "array/fill_by_number.hpp"
#include "array/pairs.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "linalg/diagonal.hpp"
#include "plan/vectors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

using execution::Operation;

namespace {

const Operand& given_operand(Factorization kind, const Array& a) {
  check(a.valid(), "{}: the matrix holds no array", factorization_name(kind));
  return a.state()->operand;
}

}  // namespace

Factors::Factors(Factorization kind, const Array& a, const FactorOptions& options, SourcePlace where)
    : kind_(kind), matrix_(given_operand(kind, a)), context_(a.context_state()), options_(options) {
  factorize_new(a, where);
}

Factors::Factors(Factorization kind, const Given& given, SourcePlace where)
    : kind_(kind), matrix_(given_operand(kind, given.packed)), context_(given.packed.context_state()) {
  context_->require_usable(name());
  runtime::check_or_tell_all(*context_, name(), [&] { check_factorized(kind_, matrix_); });
  const bool borrows = given.borrows && in_place(matrix_, {.overwrite = true});
  panels_ = panels_of(matrix_, {.overwrite = borrows});
  allocate_beside(where);
  if (kind_ != Factorization::cholesky) take_pivots(given.pivots);
  if (borrows) {
    factor_ = given.packed;
  } else {
    factor_ = new_like_factor(panels_.rows, where);
    owns_factor_ = true;
    run_packing(given.packed, false);
  }
  if (kind_ != Factorization::cholesky) first_zero_ = find_zero();
  factorized_ = true;
}

// --- memory

Array Factors::new_like_factor(std::int64_t rows, SourcePlace where) const {
  Panels panels = panels_;
  panels.rows = rows;
  return arrays::allocate_on_heap(context_, panels.layout(), matrix_.dtype, Order::column_major, name(),
                                  where, matrix_.space);
}

void Factors::allocate_beside(SourcePlace where) {
  const auto allocate = [&](const Operand& operand) {
    return arrays::allocate_on_heap(context_, operand.layout, operand.dtype, Order::column_major, name(),
                                    where, operand.space);
  };
  pivots_ = allocate(pivots_operand(kind_, panels_, matrix_.dtype, matrix_.space));
  status_ = allocate(status_operand(panels_, matrix_.space));
}

// --- factorization

void Factors::require_factorized() const {
  context_->require_usable(name());
  check(factorized_, "{}: the latest factorization failed; factorize another matrix first", name());
}

void Factors::check_matrix_given(const Array& a) const {
  arrays::check_context(name(), *context_, "the object", a, "A");
  const Operand& given = a.state()->operand;
  check(given.layout.shape() == shape() && given.dtype == matrix_.dtype && given.space == matrix_.space,
        "{}: the object was made for {} of shape {} in {} memory, but A is {} of shape {} in {} memory",
        name(), partita::name(matrix_.dtype), to_string(shape()), partita::name(matrix_.space),
        partita::name(given.dtype), to_string(given.layout.shape()), partita::name(given.space));
}

std::shared_ptr<LinearOperation> Factors::make_factoring(const Operand& a) const {
  contexts::PlanKey key(name());
  key.add(a, options_.block, options_.overwrite);
  return Operation::kept<LinearOperation>(*context_, key, name(), [&]() -> LinearRequest {
    check_factorized(kind_, a);
    const Panels panels = panels_of(a, options_);
    const bool overwrites = in_place(a, options_);
    const Operand factors = overwrites ? a : factor_operand(panels, a.dtype, a.space);
    return {.uses = {{.name = "A", .operand = a, .read = true, .written = overwrites},
                     {.name = "the factors",
                      .operand = factors,
                      .read = false,
                      .written = true,
                      .same_as = overwrites ? 0 : -1},
                     {.name = "the pivots",
                      .operand = pivots_operand(kind_, panels, a.dtype, a.space),
                      .read = false,
                      .written = true},
                     {.name = "the status",
                      .operand = status_operand(panels, a.space),
                      .read = false,
                      .written = true}},
            .plan = [kind = kind_, a, options = options_](const Topology& topology, int rank) {
              return plan_factorization(kind, a, topology, rank, options);
            }};
  });
}

void Factors::factorize(const Array& a) {
  check(a.valid(), "{}: A holds no array", name());
  context_->require_usable(name());
  runtime::check_or_tell_all(*context_, name(), [&] { check_matrix_given(a); });
  matrix_ = a.state()->operand;
  factorize_new(a, SourcePlace::current());
}

void Factors::factorize_new(const Array& a, SourcePlace where) {
  context_->require_usable(name());
  factorized_ = false;
  const Operand& operand = a.state()->operand;
  factoring_ = make_factoring(operand);
  const Panels panels = panels_of(operand, options_);
  const bool overwrites = in_place(operand, options_);
  runtime::check_or_tell_all(*context_, name(), [&] {
    if (overwrites) arrays::check_written(name(), a);
  });
  if (panels_.width != panels.width || !pivots_.valid()) {
    panels_ = panels;
    factor_ = {};
    allocate_beside(where);
  }
  if (overwrites) {
    factor_ = a;
  } else if (!factor_.valid() || !owns_factor_) {
    factor_ = new_like_factor(panels_.rows, where);
  }
  owns_factor_ = !overwrites;
  const std::array<const Array*, 4> arrays{&a, &factor_, &pivots_, &status_};
  factoring_->run(arrays, {.alpha = -1}, std::nullopt);
  read_status();
}

void Factors::read_status() {
  first_zero_ = -1;
  if (kind_ == Factorization::qr) {
    first_zero_ = find_zero();
  } else {
    const Array host = arrays::on_host(status_);
    const auto* const status = host.data<std::int32_t>();
    for (int k = 0; k < panels_.count() && first_zero_ < 0; ++k) {
      if (status[k] != 0) first_zero_ = panels_.first(k) + status[k] - 1;
    }
  }
  if (kind_ == Factorization::cholesky && first_zero_ >= 0) {
    throw SingularError(
        fmt::format("cholesky: A is not positive definite: its leading minor of order {} is not positive",
                    first_zero_ + 1),
        first_zero_);
  }
  factorized_ = true;
}

// --- use of factors

namespace {

Operand as_columns(const Operand& operand) {
  return operand.layout.dimensions() == 1 ? planning::with_dimension(operand, 1) : operand;
}

std::vector<int> axes_of_columns(const Operand& operand) {
  return operand.layout.dimensions() == 1 ? std::vector<int>{0, -1} : std::vector<int>{};
}

}  // namespace

Factors::Job Factors::solve_job(Op op) const {
  const std::int64_t m = shape()[0], n = shape()[1];
  const bool transposed = op == Op::transpose || op == Op::conjugate_transpose;
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
                                                   const std::optional<Stream>& stream) const {
  contexts::PlanKey key(job.operation);
  key.add(kind_, panels_.width, factor(), b, of_x, in_place);
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
        .plan =
            [job, kind = kind_, options = blocks(), factors = planned(factors), b = as_columns(planned(b)),
             x = as_columns(planned(to)), in_place](const Topology& topology, int rank) {
              return plan_passes(job.operation, job.passes, kind, factors, b, x, topology, rank, options,
                                 in_place);
            },
        .stream = stream};
  });
}

Array Factors::apply(const Job& job, const Array& b, const SolveOptions& options, SourcePlace where) const {
  check_sides_together(job, b);
  const Operand& of_b = b.state()->operand;
  const MemorySpace space = options.space.value_or(of_b.space);
  const auto result = [&] {
    check<UnsupportedError>(space == MemorySpace::host || context_->device != nullptr,
                            "{}: the result was requested in device memory, but this context has no device",
                            job.operation);
    Shape shape = of_b.layout.shape();
    shape[0] = job.rows_of_x;
    const bool like_b = shape == of_b.layout.shape() && !of_b.layout.partial();
    Operand operand =
        Operand::of(options.distribution ? Layout(*options.distribution, shape, context_->size())
                                         : (like_b ? of_b.layout : Layout(Slab(0), shape, context_->size())),
                    of_b.dtype, options.order, options.residency);
    operand.space = space;
    return operand;
  };
  contexts::PlanKey key("new");
  key.add(options.distribution, options.order, options.residency, space, job.rows_of_x);
  const auto operation = make_job(job, of_b, result, key, false, options.stream);
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
      job, b.state()->operand, [&] { return to; }, key, in_place, options.stream);
  const std::array<const Array*, 4> arrays{&factor_, &pivots_, &b, &x};
  operation->run(arrays, {.alpha = -1}, options.stream);
}

// --- other forms

void Factors::run_packing(const Array& other, bool packs) const {
  const Operand& of_other = other.state()->operand;
  constexpr std::string_view operation = "pack factors";
  contexts::PlanKey key(operation);
  key.add(kind_, panels_.width, factor(), of_other, packs);
  const auto planned = Operation::kept<LinearOperation>(*context_, key, operation, [&]() -> LinearRequest {
    const Operand factors = factor();
    const MemorySpace space = space_of(factors, of_other);
    execution::ArrayUse source{.name = "the factors", .operand = factors};
    execution::ArrayUse destination{.name = "the packed factors", .operand = of_other};
    if (!packs) std::swap(source, destination);
    destination.read = false;
    destination.written = true;
    return {
        .uses = {source, destination, {.name = "the pivots", .operand = pivots_.state()->operand}},
        .plan = [kind = kind_, options = blocks(), factors = arrays::as_planned(factors, space),
                 of_other = arrays::as_planned(of_other, space), packs](const Topology& topology, int rank) {
          return plan_packing(kind, factors, of_other, topology, rank, options, packs);
        }};
  });
  const Array &from = packs ? factor_ : other, &to = packs ? other : factor_;
  const std::array<const Array*, 3> arrays{&from, &to, &pivots_};
  planned->run(arrays, {}, std::nullopt);
}

ArrayOptions Factors::like_matrix() const {
  const bool in_rows = matrix_.axis_order.size() < 2 || matrix_.axis_order[0] == 0;
  return {.residency = matrix_.residency,
          .order = in_rows ? Order::row_major : Order::column_major,
          .space = matrix_.space};
}

Layout Factors::layout_for(const Shape& shape) const {
  const Layout& layout = matrix_.layout;
  if (shape == layout.shape() && !layout.partial()) return layout;
  const bool is_slab = layout.distribution().as<Slab>() != nullptr && layout.members().empty();
  return {is_slab ? layout.distribution() : Distribution(Slab(0)), shape, context_->size()};
}

Array Factors::triangle(bool lower, SourcePlace where) const {
  require_factorized();
  Panels panels = panels_;
  if (!lower) panels.rows = panels_.least();
  const Array own = new_like_factor(panels.rows, where);
  runtime::check_or_tell_all(*context_, name(), [&] {
    View from = factor_.local();
    from.extents[0] = panels.rows;
    arrays::copy_view(*context_, from, own.local());
    clear_other_triangle(own, panels, lower);
  });
  const ArrayOptions options = like_matrix();
  return redistribute(own, layout_for(own.shape()), {.order = options.order, .residency = options.residency},
                      where);
}

Array Factors::unit_matrix(std::int64_t columns, SourcePlace where) const {
  Array array =
      empty(Context(context_), layout_for({shape()[0], columns}), matrix_.dtype, like_matrix(), where);
  arrays::fill_by_number(array, [&](std::int64_t number, auto& element) {
    using Element = std::remove_reference_t<decltype(element)>;
    if constexpr (!is_small_float_type<Element>)
      element = static_cast<Element>(number / columns == number % columns ? 1 : 0);
  });
  return array;
}

Array Factors::q(SourcePlace where) const {
  require_factorized();
  Array q = unit_matrix(panels_.least(), where);
  apply_into(q_job(Op::none), q, q, {});
  return q;
}

Array Factors::inverse(SourcePlace where) const {
  const Job job = checked_job(Op::none);
  Array x = unit_matrix(shape()[1], where);
  apply_into(job, x, x, {});
  return x;
}

Array Factors::packed(SourcePlace where) const {
  require_factorized();
  Array result =
      arrays::allocate(context_, layout_for(shape()), matrix_.dtype, like_matrix(), "packed factors", where);
  run_packing(result, true);
  return result;
}

void Factors::pack_into(Array& array) const {
  require_factorized();
  runtime::check_or_tell_all(*context_, name(), [&] {
    check(array.valid(), "{}: the array for the factors is none", name());
    arrays::check_context(name(), *context_, "the factorization", array, "the array for the factors");
    check(array.shape() == shape() && array.dtype() == matrix_.dtype,
          "{}: the factors are {} of shape {}, but the array for them is {} of shape {}", name(),
          partita::name(matrix_.dtype), to_string(shape()), partita::name(array.dtype()),
          to_string(array.shape()));
    check(!arrays::overlap(factor_, array), "{}: the array for the factors overlaps them in memory", name());
    arrays::check_written(name(), array);
  });
  run_packing(array, true);
}

// --- pivots and the diagonal

Array Factors::pivots(SourcePlace where) const {
  require_factorized();
  const Operand operand = pivots_.state()->operand;
  Array result = arrays::allocate_on_heap(context_, operand.layout, operand.dtype, Order::column_major,
                                          name(), where, operand.space);
  runtime::check_or_tell_all(*context_, name(), [&] {
    const Array host = arrays::copied_to_host(pivots_);
    if (kind_ == Factorization::lu) {
      auto* const pivots = host.data<std::int32_t>();
      for (std::int64_t i = 0; i < panels_.least(); ++i)
        pivots[i] += static_cast<std::int32_t>(i / panels_.width * panels_.width);
    }
    arrays::copy_view(*context_, host.local(), result.local());
  });
  return result;
}

void Factors::take_pivots(const Array& given) {
  const Dtype wanted = pivots_.dtype();
  runtime::check_or_tell_all(*context_, name(), [&] {
    check(given.valid(), "{}: the pivots hold no array", name());
    arrays::check_context(name(), *context_, "the factors", given, "the pivots");
    check(given.dtype() == wanted && given.shape() == Shape{panels_.least()},
          "{}: the pivots must be {} of shape [{}], but are {} of shape {}", name(), partita::name(wanted),
          panels_.least(), partita::name(given.dtype()), to_string(given.shape()));
  });
  const Array replicated = redistribute(given, Replicated(), {.space = MemorySpace::host});
  runtime::check_or_tell_all(*context_, name(), [&] {
    if (kind_ == Factorization::lu) {
      auto* const pivots = replicated.data<std::int32_t>();
      for (std::int64_t i = 0; i < panels_.least(); ++i) {
        check(pivots[i] >= i && pivots[i] < panels_.rows,
              "{}: row {} cannot have been exchanged with row {} of {}", name(), i, pivots[i], panels_.rows);
        pivots[i] -= static_cast<std::int32_t>(i / panels_.width * panels_.width);
      }
    }
    arrays::copy_view(*context_, replicated.local(), pivots_.local());
  });
}

std::int64_t Factors::find_zero() const {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = none;
  runtime::check_or_tell_all(*context_, name(), [&] {
    for (const DiagonalElement& element : local_diagonal(factor_, panels_)) {
      if (element.value == 0.0) first = std::min(first, element.index);
    }
  });
  const auto all = runtime::exchange_values(*context_, name(), first);
  const std::int64_t least = *std::ranges::min_element(all);
  return least == none ? -1 : least;
}

namespace {

/// A factor of a determinant.
struct PartialDeterminant {
  std::complex<double> sign = 1;
  double log_absolute = 0;

  void multiply(std::complex<double> by) {
    const double size = std::abs(by);
    sign *= size == 0 ? 0 : by / size;
    log_absolute += std::log(size);
  }
};

}  // namespace

LogDeterminant Factors::log_determinant() const {
  require_factorized();
  check(shape()[0] == shape()[1], "slogdet: A must be square, but its shape is {}", to_string(shape()));
  PartialDeterminant mine;
  runtime::check_or_tell_all(*context_, name(), [&] {
    const Array host = kind_ == Factorization::lu ? arrays::on_host(pivots_) : Array();
    for (const auto& [index, value] : local_diagonal(factor_, panels_)) {
      mine.multiply(kind_ == Factorization::cholesky ? value * value : value);
      if (host.valid() && host.data<std::int32_t>()[index] != index % panels_.width) mine.sign = -mine.sign;
    }
  });
  LogDeterminant result;
  for (const PartialDeterminant& part : runtime::exchange_values(*context_, name(), mine)) {
    result.sign *= part.sign;
    result.log_absolute += part.log_absolute;
  }
  const double size = std::abs(result.sign);
  if (size > 0) result.sign /= size;
  return result;
}

}  // namespace partita::linear
