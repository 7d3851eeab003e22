// How factors are computed.
#include <array>

#include "array/pairs.hpp"
#include "base/check.hpp"
#include "linalg/factors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

using execution::Operation;

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
  key.add(a, options_.block, options_.overwrite, options_.compute, options_.grid, options_.pivoting,
          options_.memory_limit);
  return Operation::kept<LinearOperation>(*context_, key, name(), [&]() -> LinearRequest {
    check_factorized(kind_, a);
    const Panels panels = panels_for(a, options_);
    const bool overwrites = in_place(panels, a, options_);
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
            .plan = [kind = kind_, a, options = options_of(panels, options_)](const Topology& topology,
                                                                              int rank) {
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
  const Panels panels = panels_for(operand, options_);
  const bool overwrites = in_place(panels, operand, options_);
  runtime::check_or_tell_all(*context_, name(), [&] {
    if (overwrites) arrays::check_written(name(), a);
  });
  if (panels_ != panels || !pivots_.valid()) {
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
    if (panels_.on_grid()) first_zero_ = first_of_all_ranks(first_zero_);  // each has those of its panels
  }
  if (kind_ == Factorization::cholesky && first_zero_ >= 0) throw_indefinite(first_zero_);
  factorized_ = true;
}

}  // namespace partita::linear
