#include "linalg/factors.hpp"

#include "base/check.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

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
  const FactorOptions in_its_memory{.overwrite = true};
  const bool borrows = given.borrows && in_place(panels_for(matrix_, in_its_memory), matrix_, in_its_memory);
  panels_ = panels_for(matrix_, {.overwrite = borrows});
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

void Factors::require_factorized() const {
  context_->require_usable(name());
  check(factorized_, "{}: the latest factorization failed; factorize another matrix first", name());
}

}  // namespace partita::linear
