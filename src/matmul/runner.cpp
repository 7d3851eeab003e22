#include "matmul/runner.hpp"

#include <fmt/format.h>

#include "device/device_synchronization.hpp"
#include "kernels/host/blas_library.hpp"
#include "runtime/agree.hpp"

namespace partita::multiplication {

void Runner::run(std::span<const std::shared_ptr<Array::State>> arrays, const Parameters& parameters) {
  given_.clear();
  for (const auto& array : arrays) given_.push_back(array.get());
  bound_->execute(given_, parameters);
}

namespace {

std::string number_text(std::complex<double> value) {
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

}  // namespace

Plan plan_of(const Setting& setting, const ContextState& context, int rank) {
  MatmulOptions options = setting.options;
  options.alpha = setting.product ? 1 : 0;
  return plan_matmul(setting.operands, context.topology(setting.operands.d.space), rank, options,
                     context.machine, setting.in_place);
}

std::shared_ptr<Runner> plan_together(ContextState& context, const std::function<Setting()>& setting) {
  context.require_usable("matmul");
  std::shared_ptr<Runner> runner;
  runtime::collectively(context, "matmul", [&]() -> std::vector<Fact> {
    const Setting made = setting();
    const bool on_device = made.operands.d.space == MemorySpace::device;
    if (on_device) devices::require_no_capture(context, "matmul", "making a plan");
    if (!on_device) (void)kernels::blas();  // where there is none, say so before anything has begun
    Plan plan = plan_of(made, context, context.rank());
    std::vector<Fact> facts = plan.identity;
    facts.push_back({"alpha", number_text(made.options.alpha)});
    facts.push_back({"beta", number_text(made.options.beta)});
    runner = std::make_shared<Runner>(context, std::move(plan), made);
    return facts;
  });
  context.heap_in(runner->setting().operands.d.space)
      .collect();  // plan creation is a named point of deferred release
  runner->connect(context);
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
