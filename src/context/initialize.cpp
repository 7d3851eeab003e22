#include <fmt/format.h>

#include <partita/machine_report.hpp>
#include <partita/version.hpp>
#include <random>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "device/start_device.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/rendezvous.hpp"
#include "runtime/groups/sockets_group.hpp"
#include "runtime/groups/threads_group.hpp"
#include "runtime/live_contexts.hpp"
#include "runtime/logging.hpp"
#include "runtime/settings.hpp"
#include "runtime/threads_per_rank.hpp"
#include "runtime/uncaught_errors.hpp"

namespace partita {

namespace {

constexpr std::string_view initializing = "initialize";

// A bad environment is refused later, by all ranks together: the group comes first.
ContextOptions options_to_begin_with(const ContextOptions& options) {
  try {
    return runtime::with_environment(options);
  } catch (const ArgumentError&) {
    ContextOptions harmless;
    harmless.communicator = options.communicator;
    return harmless;
  }
}

std::unique_ptr<runtime::ProcessGroup> make_group(const ContextOptions& options) {
  const Communicator& communicator = options.communicator;
  if (communicator.thread_member) return runtime::make_threads_group(communicator, options.ranks_per_node);
  if (communicator.handle_bytes == 0 && runtime::has_sockets())
    return runtime::make_sockets_group(options.ranks_per_node, options.deadline);
  if (communicator.handle_bytes > 0 || runtime::mpi_is_running() || is_launched_rank())
    return runtime::make_mpi_group(communicator, options.ranks_per_node, options.deadline);
  return runtime::make_threads_group(std::make_shared<runtime::ThreadsShared>(1), 0, options.ranks_per_node);
}

std::string_view name_of(Device::Kind kind) {
  switch (kind) {
    case Device::Kind::cpu:
      return "cpu";
    case Device::Kind::cuda:
      return "cuda";
    case Device::Kind::any:
      break;
  }
  return "any";
}

// This rank's own part: its settings; and what all ranks must have alike.
std::vector<Fact> settle_options(ContextState& state, const ContextOptions& options) {
  state.options = runtime::with_environment(options);
  state.log = runtime::make_logger(state.rank(), state.size(), state.options.log);
  state.machine = Machine::find(runtime::machine_of(state.options));
  std::vector<Fact> facts{{"the version of Partita", PARTITA_VERSION},
                          {"the kind of device", std::string(name_of(state.options.device.kind))},
                          {"the machine", to_string(state.machine)}};
  for (const runtime::Setting& setting : runtime::settings()) {
    if (setting.alike) facts.push_back({std::string(setting.option), setting.show(state.options)});
  }
  return facts;
}

std::uint64_t random_number() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U) | device();
}

void agree_on_options(ContextState& state, const ContextOptions& options) {
  runtime::Rendezvous rendezvous(state, initializing);
  const runtime::Summary all = runtime::collectively(rendezvous, initializing, random_number(),
                                                     [&] { return settle_options(state, options); });
  state.identity = all.largest;
}

void settle_threads(ContextState& state) {
  const std::vector<runtime::Cores> cores =
      runtime::exchange_values(state, initializing, runtime::this_rank_cores(state.group->place()));
  // Some 15 us. Longer would cost more where the system has put two ranks on one core for a while: the one
  // that is waited for does not run meanwhile.
  constexpr int turns = 300;
  state.spin_turns = runtime::cores_for_all(cores, state.rank()) ? turns : 0;
  state.threads =
      state.options.threads > 0 ? state.options.threads : runtime::threads_per_rank(cores, state.rank());
}

}  // namespace

Context initialize(const ContextOptions& options) {
  const std::shared_ptr<ContextState> state = ContextState::make();
  state->options = options_to_begin_with(options);
  state->group = make_group(state->options);
  runtime::report_uncaught_errors_once(state->group->rank());
  agree_on_options(*state, options);
  devices::settle_device(*state);
  state->machine = Machine::find(runtime::machine_of(state->options));
  settle_threads(*state);
  state->cross_memory = memory::CrossMemory::connect(*state);
  contexts::start_context(*state);
  state->log->debug(fmt::format("{} ranks on {} nodes, {} threads a rank, {}", state->size(),
                                state->topology().node_count(), state->threads, state->group->place()));
  return Context(state);
}

}  // namespace partita
