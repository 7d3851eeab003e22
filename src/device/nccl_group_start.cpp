// How NCCL starts: all ranks join, then make each kind of call once.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "cuda/driver.hpp"
#include "cuda/stream.hpp"
#include "device/device_runtime.hpp"
#include "device/device_synchronization.hpp"
#include "device/nccl_capabilities.hpp"
#include "device/nccl_group.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::devices {
namespace {

constexpr std::string_view operation_of_start = "start NCCL";

/// Of a start that may be waited for no longer.
struct Joined {
  NcclCommunicator communicator = nullptr;
  int result = nccl_in_progress;
  std::atomic<bool> returned = false;
};

void log_none(const DeviceRuntime& state, const std::string& why) {
  if (state.rank() == 0) state.log->info(fmt::format("collectives without NCCL: {}", why));
}

}  // namespace

std::unique_ptr<DeviceGroup> NcclGroup::make(DeviceRuntime& state) {
  try {
    state.device->use();
    const std::vector<NcclCapabilities> offers = exchange_capabilities(state, operation_of_start);
    const std::string why = obstacle(offers);
    if (!why.empty()) return log_none(state, why), nullptr;
    finish_device(state, operation_of_start);
    return start(state, offers.front().id);
  } catch (const std::exception& error) {
    state.fail(error.what());
    throw;
  }
}

std::unique_ptr<NcclGroup> NcclGroup::start(DeviceRuntime& state, const NcclId& id) {
  std::unique_ptr<NcclGroup> group(new NcclGroup(state));
  std::string complaint = group->join(id);
  if (complaint.empty()) complaint = group->allocate_dry_run();
  for (const std::string& why : runtime::exchange(state, operation_of_start, complaint)) {
    if (why.empty()) continue;
    group->abort();
    group->release_dry_run();
    return log_none(state, why), nullptr;
  }
  group->dry_run();
  group->release_dry_run();
  return group;
}

// Before the ranks tell each other how it went: one without memory is one without NCCL.
std::string NcclGroup::allocate_dry_run() {
  try {
    const std::int64_t bytes = dry_run_part() * state_.size() * size_of(Dtype::f32);
    for (void*& memory : dry_run_memory_) memory = state_.device->physical().allocate(bytes);
    return "";
  } catch (const MemoryError& error) {
    return error.what();
  }
}

// Not where something has been thrown: a stream may still write there.
void NcclGroup::release_dry_run() {
  for (void*& memory : dry_run_memory_) {
    if (memory != nullptr) state_.device->physical().release(std::exchange(memory, nullptr));
  }
}

std::int64_t NcclGroup::dry_run_part() const {
  constexpr std::int64_t most = std::int64_t{1} << 20;  // numbers; NCCL takes other ways than for a few
  return std::max<std::int64_t>(most / state_.size(), 1);
}

// NCCL returns when all ranks have come, and one may never: the thread then is left behind.
std::string NcclGroup::join(const NcclId& id) {
  const auto joined = std::make_shared<Joined>();
  std::thread([joined, id, &library = library_, device = device_, ranks = state_.size(), rank = rank_] {
    const cuda::CudaBesideCaptures unharmed;
    cudaSetDevice(device);
    NcclConfig config;
    config.blocking = 1;
    joined->result = library.init_rank(&joined->communicator, ranks, id, rank, &config);
    joined->returned = true;
  }).detach();
  runtime::wait_until(state_, waiting(operation_of_start), [&] {
    state_.require_alive(operation_of_start);
    if (!joined->returned) return false;
    communicator_ = joined->communicator;
    if (joined->result == nccl_in_progress) joined->result = state_of_communicator();  // NCCL_COMM_BLOCKING=0
    return joined->result != nccl_in_progress;
  });
  return joined->result == nccl_success ? "" : text_of(operation_of_start, joined->result);
}

void NcclGroup::dry_run() {
  const Stream stream = begin_device_work(state_);
  beside([&] {
    dry_run(dry_run_memory_[0], dry_run_memory_[1], 1);
    dry_run(dry_run_memory_[0], dry_run_memory_[1], dry_run_part());
  });
  end_device_work(state_, stream);
  finish_device(state_, operation_of_start);
}

void NcclGroup::dry_run(void* from, void* to, std::int64_t part) {
  const std::int64_t bytes = part * size_of(Dtype::f32);
  all_reduce(from, to, part * state_.size(), Dtype::f32, Reduction::sum, {});
  reduce_scatter(from, to, part, Dtype::f32, Reduction::sum, {});
  all_gather(from, to, bytes, {});
  reduce(from, to, part, Dtype::f32, Reduction::sum, 0, {});
  broadcast(from, to, bytes, 0, {});
  std::vector<Part> sent, received;
  for (int peer = 0; peer < state_.size(); ++peer) {
    sent.push_back({peer, static_cast<char*>(from) + peer * bytes, bytes});
    received.push_back({peer, static_cast<char*>(to) + peer * bytes, bytes});
  }
  exchange(sent, received, {});
}

void NcclGroup::beside(const std::function<void()>& work) {
  std::atomic<bool> done = false;
  std::exception_ptr thrown;
  std::thread runner([&] {
    try {
      const cuda::CudaBesideCaptures unharmed;
      state_.device->use();
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    done = true;
  });
  try {
    runtime::wait_until(state_, waiting(operation_of_start), [&] { return done.load(); });
  } catch (...) {
    abort();  // so NCCL returns
    runner.join();
    throw;
  }
  runner.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace partita::devices
