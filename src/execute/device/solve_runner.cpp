#include "execute/device/solve_runner.hpp"

#include <algorithm>

#include "plan/channels.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::execution {
namespace {

const Operand& operand_of(const Plan& plan, int buffer) {
  return *plan.buffers[static_cast<std::size_t>(buffer)].operand;
}

/// Its local part is stored by columns, without gaps.
bool is_stored_by_columns(const Operand& operand) {
  return operand.dense && operand.axis_order == Extents{1, 0};
}

devices::DeviceRowExchange exchange_of(const planning::SolveSteps& steps, Dtype dtype) {
  return {dtype, steps.exchanges_after(), steps.n, steps.columns, steps.n, steps.n, steps.width};
}

}  // namespace

SolveRunner::SolveRunner(ContextState& context, const Plan& plan, const planning::SolveSteps& steps)
    : context_(context),
      plan_(plan),
      steps_(steps),
      dtype_(operand_of(plan, steps.factors).dtype),
      own_rows_(operand_of(plan, steps.sides).layout.local_shape(plan.rank)[0]),
      factorizations_(context.device->factorizations()),
      words_(static_cast<std::size_t>(steps.ranks)) {
  flags_.reserve(2 * words_.size());
}

devices::DeviceSharedSolve SolveRunner::call_of(const planning::SolveSteps::Pass& pass) const {
  devices::DeviceSharedSolve call;
  call.own = {dtype_, pass.op, pass.upper, pass.unit_diagonal, false, steps_.n, steps_.columns};
  call.own.leading = std::max<std::int64_t>(own_rows_, 1);
  call.own.leading_triangle = steps_.n;
  call.rank = plan_.rank;
  call.ranks = steps_.ranks;
  call.width = steps_.width;
  return call;
}

bool SolveRunner::offered() const {
  if (factorizations_ == nullptr || !is_stored_by_columns(operand_of(plan_, steps_.factors))) return false;
  const std::int64_t bytes = factorizations_->shared_bytes(call_of(steps_.passes.front()));
  const bool moves_fit = steps_.pivots < 0 || factorizations_->workspace_bytes(exchange_of(steps_, dtype_)) <=
                                                  planning::SolveSteps::bytes_of_moves(steps_.n);
  return bytes > 0 && bytes <= planning::SolveSteps::bytes(dtype_, steps_.n, steps_.columns, steps_.ranks) &&
         moves_fit;
}

bool SolveRunner::suits_all_ranks() const {
  return std::ranges::min(runtime::exchange_values(context_, plan_.operation, offered() ? 1 : 0)) == 1;
}

void SolveRunner::run(const PlanMemory& memory, const std::vector<std::int64_t>& waited, Stream stream) {
  const auto own = [&](int buffer) { return memory.address({buffer, plan_.rank, 0, {}}); };
  const std::int64_t bytes = planning::SolveSteps::bytes(dtype_, steps_.n, steps_.columns, steps_.ranks);
  const auto passes = static_cast<std::int64_t>(steps_.passes.size());
  factorizations_->clear_words(own(steps_.words), passes * bytes, stream);
  if (steps_.exchanges_before()) exchange_rows(memory, stream);
  exchange_signals(waited, stream);
  for (std::int64_t i = 0; i < passes; ++i) {
    for (int rank = 0; rank < steps_.ranks; ++rank)
      words_[static_cast<std::size_t>(rank)] = memory.address({steps_.words, rank, 0, {}}) + i * bytes;
    const bool given = i == 0 && steps_.exchanges_before();
    factorizations_->solve_shared(call_of(steps_.passes[static_cast<std::size_t>(i)]),
                                  {own(steps_.factors), own(steps_.sides),
                                   given ? own(steps_.whole) : nullptr, words_, context_.flags->given_up()},
                                  stream);
  }
}

void SolveRunner::exchange_rows(const PlanMemory& memory, Stream stream) const {
  const auto own = [&](int buffer) { return memory.address({buffer, plan_.rank, 0, {}}); };
  factorizations_->exchange(exchange_of(steps_, dtype_), own(steps_.pivots), own(steps_.whole),
                            own(steps_.moves), stream);
}

/// This rank's words are clear, and those of the others.
void SolveRunner::exchange_signals(const std::vector<std::int64_t>& waited, Stream stream) {
  constexpr int channel = static_cast<int>(planning::Channel::grant);
  flags_.clear();
  for (int peer = 0; peer < steps_.ranks; ++peer) {
    if (peer != plan_.rank) flags_.push_back(context_.flags->signal(peer, channel));
  }
  for (int peer = 0; peer < steps_.ranks; ++peer) {
    if (peer == plan_.rank) continue;
    flags_.push_back(context_.flags->wait(peer, channel, waited[static_cast<std::size_t>(peer)] + 1));
  }
  context_.device->flags(flags_, stream);
}

}  // namespace partita::execution
