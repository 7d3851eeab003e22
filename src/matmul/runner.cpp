#include "matmul/runner.hpp"

#include <fmt/format.h>

#include <optional>

#include "array/transfer.hpp"
#include "device/device_synchronization.hpp"
#include "device/product_agreement.hpp"
#include "device/product_choices.hpp"
#include "kernels/host/blas_library.hpp"
#include "matmul/plan.hpp"
#include "matmul/problem.hpp"
#include "plan/moves.hpp"
#include "runtime/agree.hpp"

namespace partita::multiplication {

void Runner::connect() {
  execution::Executor::connect_all(context_, bound_);
  crossing_.connect(context_);
}

std::int64_t Runner::scratch_bytes() const {
  return planning::scratch_bytes(plan()) + crossing_.bytes(context_.rank());
}

Runner::Arrays Runner::in_plan_order(const Request& request) const {
  return multiplication::in_plan_order(crossing_.seen(request), setting_.options);
}

std::span<const Array::State* const> Runner::given(const Arrays& arrays) {
  given_.clear();
  for (const auto& array : arrays) given_.push_back(array.get());
  return given_;
}

void Runner::run(const Request& request, const Arrays& arrays, const Parameters& parameters) {
  if (execution::space_of(bound_->plan()) == MemorySpace::device)
    arrays::require_no_capture_together(context_, "matmul");
  crossing_.bring(context_, request, parameters);
  bound_->execute(given(arrays), parameters);
  crossing_.take_back(context_, request);
}

void Runner::enqueue(const Request& request, const Arrays& arrays, const Parameters& parameters,
                     Stream stream) {
  check_in_device_memory(request);
  bound_->enqueue(given(arrays), parameters, stream);
}

namespace {

/// Beside FFTW's wisdom of that name.
std::string file_beside(const std::string& wisdom_file) {
  return wisdom_file.empty() ? "" : wisdom_file + ".products";
}

std::string number_text(std::complex<double> value) {
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

}  // namespace

ProductPlan plan_of(const Setting& setting, const ContextState& context, int rank) {
  MatmulOptions options = setting.options;
  options.alpha = setting.product ? 1 : 0;
  return plan_product(setting.operands, context.topology(space_of(setting.operands)), rank, options,
                      context.machine, setting.in_place, setting.groups);
}

namespace {

/// Whether a library carries the messages of such a plan. Throws what making the setting throws, the same on
/// every rank. Collective where devices lie on several nodes.
bool goes_in_groups(ContextState& context, const std::function<Setting()>& setting) {
  if (context.device_topology.node_count() == 1) return false;
  bool on_device = false;
  runtime::collectively(context, "matmul", [&]() -> std::vector<Fact> {
    const Setting made = setting();
    on_device = space_of(made.operands) == MemorySpace::device;
    if (on_device) devices::require_no_capture(context, "matmul", "making a plan");
    return facts(made.operands, made.options, made.in_place);
  });
  return on_device && devices::messages_go_in_groups(context);
}

}  // namespace

std::shared_ptr<Runner> plan_together(ContextState& context, const std::function<Setting()>& setting) {
  context.require_usable("matmul");
  const bool grouped = goes_in_groups(context, setting);
  std::shared_ptr<Runner> runner;
  std::optional<devices::ChoicesFile> wisdom;
  std::string chosen;
  bool on_device = false;
  runtime::collectively(context, "matmul", [&]() -> std::vector<Fact> {
    Setting made = setting();
    if (grouped) made.groups.emplace();
    on_device = space_of(made.operands) == MemorySpace::device;
    if (on_device) wisdom.emplace(file_beside(made.options.wisdom_file));
    if (on_device) devices::require_no_capture(context, "matmul", "making a plan");
    if (!on_device) (void)kernels::blas();  // where there is none, say so before anything has begun
    ProductPlan planned = plan_of(made, context, context.rank());
    std::vector<Fact> facts = planned.plan.identity;
    facts.push_back({"alpha", number_text(made.options.alpha)});
    facts.push_back({"beta", number_text(made.options.beta)});
    runner = std::make_shared<Runner>(context, std::move(planned), made);
    if (on_device) chosen = devices::news_of_choices(context);
    return facts;
  });
  if (on_device) devices::agree_on_choices(context, "matmul", chosen);
  context.heap_in(space_of(runner->setting().operands))
      .collect();  // plan creation is a named point of deferred release
  runner->connect();
  return runner;
}

void check_together(ContextState& context, bool alike_on_all_ranks, const std::function<void()>& local) {
  if (alike_on_all_ranks) return runtime::check_or_tell_all(context, "matmul", local);
  runtime::collectively(context, "matmul", [&]() -> std::vector<Fact> {
    local();
    return {};
  });
}

}  // namespace partita::multiplication
