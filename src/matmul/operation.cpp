#include "matmul/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "device/product_agreement.hpp"
#include "kernels/host/blas_library.hpp"
#include "matmul/plan.hpp"
#include "matmul/problem.hpp"
#include "matmul/vectors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::multiplication {
namespace {

/// Next to FFTW's wisdom of that name.
std::string choices_file(const std::string& wisdom_file) {
  return wisdom_file.empty() ? "" : wisdom_file + ".products";
}

/// Of alpha or beta, as ranks compare it.
std::string factor_text(std::complex<double> factor) {
  return fmt::format("{}{:+}i", factor.real(), factor.imag());
}

/// How the plan sees an operand: matrices for vectors, op(A) for A. See execution::ArrayUse.
std::vector<int> seen_axes(Role role, const Setting& setting) {
  const MatmulOperands& operands = setting.operands;
  const Vectors vectors(operands.a, operands.b);
  const auto of_factor = [&](const Operand& operand, Op op, bool vector, std::vector<int> as_matrix) {
    if (vector) return as_matrix;
    return transposes(op) ? axes_of(op, operand.layout.dimensions()) : std::vector<int>();
  };
  if (role == in_a) return of_factor(operands.a, setting.options.op_a, vectors.a, {-1, 0});
  if (role == in_b) return of_factor(operands.b, setting.options.op_b, vectors.b, {0, -1});
  if (!vectors || (role != in_c && role != in_d && role != in_auxiliary)) return {};
  const Shape& shape = operands.d.layout.shape();
  std::vector<int> axes(static_cast<std::size_t>(shape.size()));
  std::iota(axes.begin(), axes.end(), 0);
  for (const int position : missing_dimensions(shape, vectors)) axes.insert(axes.begin() + position, -1);
  return axes;
}

}  // namespace

Product::Product(ContextState& context, std::function<Setting()> setting)
    : Operation(context, "matmul"), ask_(std::move(setting)) {}

std::vector<Fact> Product::prepare() {
  setting_ = std::exchange(ask_, nullptr)();  // what it refers to lives only as long as the call
  const auto& [operands, options, in_place, product] = *setting_;
  const EpilogueParts parts = parts_of(options.epilogue);
  std::vector<execution::ArrayUse> uses;
  const auto all = by_role(operands);
  for (std::size_t i = 0; i < roles; ++i) {
    if (all[i] == nullptr) continue;
    const auto role = static_cast<Role>(i);
    uses.push_back({.name = role_names[i],
                    .operand = *all[i],
                    .read = is_read(role, parts, product),
                    .written = is_written(role, parts),
                    .axes = seen_axes(role, *setting_),
                    .same_as = role == in_d && in_place ? static_cast<int>(in_c) : -1});
    roles_.push_back(role);
  }
  set_uses(std::move(uses), std::exchange(setting_->options.stream, std::nullopt));
  if (space_of(operands) == MemorySpace::host) (void)kernels::blas();  // if there is none, this says so
  std::vector<Fact> result = facts(operands, options, in_place);
  result.push_back({"alpha", factor_text(options.alpha)});
  result.push_back({"beta", factor_text(options.beta)});
  return result;
}

execution::Planned Product::plan_of(int rank) const {
  const auto& [operands, given, in_place, product] = *setting_;
  MatmulOptions options = given;
  options.alpha = product ? 1 : 0;
  auto planned = plan_product(operands, context().topology(space()), rank, options, context().machine,
                              in_place, grouped() ? std::optional<Groups>(Groups()) : std::nullopt);
  return {std::move(planned.plan), std::move(planned.packets)};
}

void Product::before_binding() {
  if (on_device()) choices_.emplace(choices_file(setting_->options.wisdom_file));
}

void Product::after_binding() {
  if (on_device()) chosen_ = devices::news_of_choices(context());
}

void Product::after_check() {
  choices_.reset();
  if (on_device()) devices::agree_on_choices(context(), name(), chosen_);
}

bool Product::reads(std::size_t use, const Parameters& parameters) const {
  const bool is_unused_c = roles_[use] == in_c && parameters.beta == std::complex<double>(0);
  return !is_unused_c && Operation::reads(use, parameters);
}

Array Product::new_d(const std::shared_ptr<ContextState>& context, const Parameters& factors,
                     SourcePlace where) {
  if (purpose_of_d_.empty() || factors.alpha != factors_.alpha || factors.beta != factors_.beta) {
    factors_ = factors;
    purpose_of_d_ =
        fmt::format("{}; alpha {} beta {}", purpose(), factor_text(factors.alpha), factor_text(factors.beta));
  }
  return result(context, static_cast<std::size_t>(std::ranges::find(roles_, in_d) - roles_.begin()),
                purpose_of_d_, where);
}

void Product::run(const Request& request, const Parameters& parameters, const std::optional<Stream>& stream) {
  given_.clear();
  for (const Role role : roles_) given_.push_back(&(request.*arrays_of_request[role]));
  Operation::run(given_, parameters, stream);
}

void check_together(ContextState& context, bool alike_on_all_ranks, const std::function<void()>& local) {
  if (alike_on_all_ranks) return runtime::check_or_tell_all(context, "matmul", local);
  runtime::collectively(context, "matmul", [&] { local(); });
}

}  // namespace partita::multiplication
