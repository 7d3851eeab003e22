// The objects: factorize once, solve many times.
#include <utility>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "linalg/factors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita {

using linear::Factors;

namespace {

Array solve_with(const Factors& factors, const Array& b, const SolveOptions& options, SourcePlace where) {
  return factors.apply(factors.checked_job(options.op), b, options, where);
}

void solve_with_into(const Factors& factors, const Array& b, Array& x, const SolveOptions& options) {
  factors.apply_into(factors.checked_job(options.op), b, x, options);
}

const Plan& plan_of(const Factors& factors) {
  check(factors.factoring() != nullptr,
        "plan: the factors were given, so there is no plan of a factorization");
  return factors.factoring()->plan();
}

std::string explain_factors(const Factors& factors, const ExplainOptions& options) {
  return partita::explain(plan_of(factors), options, factors.factoring()->planner());
}

}  // namespace

// --- Cholesky

Cholesky::Cholesky(const Array& a, const FactorOptions& options, SourcePlace where)
    : factors_(std::make_unique<Factors>(Factorization::cholesky, a, options, where)) {}
Cholesky::Cholesky(std::unique_ptr<Factors> factors) : factors_(std::move(factors)) {}
Cholesky Cholesky::from_lower(const Array& l, SourcePlace where) {
  return Cholesky(std::make_unique<Factors>(Factorization::cholesky, Factors::Given{l, {}}, where));
}
Cholesky::~Cholesky() = default;
Cholesky::Cholesky(Cholesky&&) noexcept = default;
Cholesky& Cholesky::operator=(Cholesky&&) noexcept = default;

void Cholesky::factorize(const Array& a) {
  factors_->factorize(a);
}
Array Cholesky::solve(const Array& b, const SolveOptions& options, SourcePlace where) const {
  return solve_with(*factors_, b, options, where);
}
void Cholesky::solve_into(const Array& b, Array& x, const SolveOptions& options) const {
  solve_with_into(*factors_, b, x, options);
}
LogDeterminant Cholesky::log_determinant() const {
  return factors_->log_determinant();
}
double Cholesky::condition(double norm, MatrixNorm which) const {
  return factors_->condition(norm, which);
}
Array Cholesky::lower(SourcePlace where) const {
  return factors_->triangle(true, where);
}
void Cholesky::lower_into(Array& array) const {
  factors_->pack_into(array);
}
const Plan& Cholesky::plan() const {
  return plan_of(*factors_);
}
std::string Cholesky::explain(const ExplainOptions& options) const {
  return explain_factors(*factors_, options);
}

// --- Lu

Lu::Lu(const Array& a, const FactorOptions& options, SourcePlace where)
    : factors_(std::make_unique<Factors>(Factorization::lu, a, options, where)) {}
Lu::Lu(std::unique_ptr<Factors> factors) : factors_(std::move(factors)) {}
Lu Lu::from_packed(const Array& packed, const Array& pivots, SourcePlace where) {
  return Lu(std::make_unique<Factors>(Factorization::lu, Factors::Given{packed, pivots}, where));
}
Lu::~Lu() = default;
Lu::Lu(Lu&&) noexcept = default;
Lu& Lu::operator=(Lu&&) noexcept = default;

void Lu::factorize(const Array& a) {
  factors_->factorize(a);
}
Array Lu::solve(const Array& b, const SolveOptions& options, SourcePlace where) const {
  return solve_with(*factors_, b, options, where);
}
void Lu::solve_into(const Array& b, Array& x, const SolveOptions& options) const {
  solve_with_into(*factors_, b, x, options);
}
LogDeterminant Lu::log_determinant() const {
  return factors_->log_determinant();
}
double Lu::condition(double norm, MatrixNorm which) const {
  return factors_->condition(norm, which);
}
std::optional<std::int64_t> Lu::first_zero_pivot() const {
  factors_->require_factorized();
  const std::int64_t index = factors_->first_zero();
  return index < 0 ? std::nullopt : std::optional(index);
}
Array Lu::packed(SourcePlace where) const {
  return factors_->packed(where);
}
void Lu::packed_into(Array& array) const {
  factors_->pack_into(array);
}
Array Lu::pivots(SourcePlace where) const {
  return factors_->pivots(where);
}
const Plan& Lu::plan() const {
  return plan_of(*factors_);
}
std::string Lu::explain(const ExplainOptions& options) const {
  return explain_factors(*factors_, options);
}

// --- Qr

Qr::Qr(const Array& a, const FactorOptions& options, SourcePlace where)
    : factors_(std::make_unique<Factors>(Factorization::qr, a, options, where)) {}
Qr::Qr(std::unique_ptr<Factors> factors) : factors_(std::move(factors)) {}
Qr Qr::from_packed(const Array& packed, const Array& factors, SourcePlace where) {
  return Qr(std::make_unique<Factors>(Factorization::qr, Factors::Given{packed, factors}, where));
}
Qr::~Qr() = default;
Qr::Qr(Qr&&) noexcept = default;
Qr& Qr::operator=(Qr&&) noexcept = default;

void Qr::factorize(const Array& a) {
  factors_->factorize(a);
}
Array Qr::solve(const Array& b, const SolveOptions& options, SourcePlace where) const {
  return solve_with(*factors_, b, options, where);
}
void Qr::solve_into(const Array& b, Array& x, const SolveOptions& options) const {
  solve_with_into(*factors_, b, x, options);
}
Array Qr::r(SourcePlace where) const {
  return factors_->triangle(false, where);
}
Array Qr::packed(SourcePlace where) const {
  return factors_->packed(where);
}
void Qr::packed_into(Array& array) const {
  factors_->pack_into(array);
}
Array Qr::factors(SourcePlace where) const {
  return factors_->pivots(where);
}
Array Qr::q(SourcePlace where) const {
  return factors_->q(where);
}
Array Qr::multiply_q(const Array& b, const SolveOptions& options, SourcePlace where) const {
  factors_->context()->require_usable("multiply_q");
  Factors::Job job;
  runtime::check_or_tell_all(*factors_->context(), "multiply_q", [&] { job = factors_->q_job(options.op); });
  return factors_->apply(job, b, options, where);
}
const Plan& Qr::plan() const {
  return plan_of(*factors_);
}
std::string Qr::explain(const ExplainOptions& options) const {
  return explain_factors(*factors_, options);
}

}  // namespace partita
