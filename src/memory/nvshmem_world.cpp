#include "memory/nvshmem_world.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "base/check.hpp"
#include "base/default_variable.hpp"
#include "base/hash.hpp"
#include "base/units.hpp"
#include "memory/page.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

constexpr std::string_view starting_nvshmem = "share device memory by NVSHMEM";
constexpr int initialized = 2;  // its status, or more

/// What all contexts of the process get of the free memory, and one of them of what is left.
constexpr std::int64_t share_of(std::int64_t bytes) {
  return round_down(bytes / 4 * 3, huge_page_bytes);
}

/// Outlives a start that never returns.
struct Start {
  NvshmemId id;
  NvshmemAttributes attributes;
  void* memory = nullptr;
  std::string complaint;
  std::atomic<bool> begun = false;
  std::atomic<bool> done = false;
};

/// Runs `work` on the context's device in a new thread. One that keeps it for half of the deadline is
/// left running, so that the ranks can notify each other before any of them has waited too long.
std::string beside(runtime::Runtime& state, const NvshmemDevice& device, const std::shared_ptr<Start>& start,
                   const std::function<std::string()>& work) {
  using Clock = std::chrono::steady_clock;
  start->begun = start->done = false;
  std::thread([start, work, use = device.use] {
    try {
      use();
      start->begun = true;
      start->complaint = work();
    } catch (const std::exception& error) {
      start->complaint = error.what();
    }
    start->begun = true;
    start->done = true;
  }).detach();
  while (!start->begun) std::this_thread::yield();
  const Clock::time_point limit = Clock::now() + state.options.deadline / 2;
  const runtime::WaitReason reason{starting_nvshmem, [] { return std::string("NVSHMEM"); }, -1,
                                   [&] { return state.others(); }};
  runtime::wait_until(state, reason, [&] {
    state.require_alive(starting_nvshmem);
    return start->done.load() || Clock::now() >= limit;
  });
  return start->done ? start->complaint : "it does not return";
}

/// The first complaint of any rank, with its number.
std::string first_of(runtime::Runtime& state, const std::string& mine) {
  const std::vector<std::string> all = runtime::exchange(state, starting_nvshmem, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) return fmt::format("{} (rank {})", all[rank], rank);
  }
  return "";
}

std::string make_id(runtime::Runtime& state, const NvshmemDevice& device, const std::shared_ptr<Start>& start,
                    const NvshmemLibrary& library) {
  std::string complaint;
  if (state.rank() == 0) {
    complaint = beside(state, device, start, [start, &library] {
      const int result = library.get_unique_id(&start->id);
      return result == 0 ? "" : fmt::format("its processes cannot find each other: error {}", result);
    });
  }
  std::string why = first_of(state, complaint);
  if (why.empty()) start->id = runtime::exchange_values(state, starting_nvshmem, start->id).front();
  return why;
}

std::string begin(runtime::Runtime& state, const NvshmemDevice& device, const std::shared_ptr<Start>& start,
                  const NvshmemLibrary& library, std::int64_t bytes) {
  // Where its heap does not grow, what it is given to begin with is all.
  const DefaultVariable size("NVSHMEM_SYMMETRIC_SIZE", fmt::format("{}", bytes + (std::int64_t{64} << 20)));
  const DefaultVariable most("NVSHMEM_MAX_MEMORY_PER_GPU",
                             fmt::format("{}", std::max(128 * gibibyte, bytes + 8 * gibibyte)));
  const int rank = state.rank(), ranks = state.size();
  return first_of(state, beside(state, device, start, [=, &library]() -> std::string {
                    library.set_id(rank, ranks, &start->id, &start->attributes);
                    const int result = library.init(nvshmem_init_with_id, &start->attributes);
                    if (result != 0) return fmt::format("its start ended with error {}", result);
                    if (library.init_status() < initialized) return "it did not use the device";
                    if (library.my_pe() != rank || library.pe_count() != ranks)
                      return "its PEs differ from the ranks";
                    start->memory = library.allocate(static_cast<std::size_t>(bytes));
                    return start->memory != nullptr ? "" : fmt::format("it does not have {} bytes", bytes);
                  }));
}

std::int64_t least_of(std::span<const NvshmemCapabilities> offers) {
  return std::ranges::min_element(offers, {}, &NvshmemCapabilities::bytes)->bytes;
}

}  // namespace

NvshmemWorld& NvshmemWorld::of_process() {
  static NvshmemWorld& world = *new NvshmemWorld;  // contexts that are kept until exit refer to it
  return world;
}

void NvshmemWorld::forget() {
  NvshmemWorld& world = of_process();
  const std::lock_guard lock(world.mutex_);
  world.library_ = nullptr;
  world.starting_ = false;
  world.why_failed_.clear();
  world.identity_ = 0;
  world.memory_ = nullptr;
  world.pool_ = NvshmemPool();
}

NvshmemCapabilities NvshmemWorld::offer(const runtime::Runtime& state, const NvshmemDevice& device,
                                        const NvshmemLibrary& library) {
  const std::int64_t free_bytes = device.free_bytes();
  const std::lock_guard lock(mutex_);
  check<UnsupportedError>(!state.group->in_process() || state.size() == 1,
                          "the ranks are threads of one process, but NVSHMEM requires one process per rank");
  check<UnsupportedError>(library.why_none.empty(), "NVSHMEM: {}", library.why_none);
  check<UnsupportedError>(why_failed_.empty(), "NVSHMEM: an earlier start in this process failed: {}",
                          why_failed_);
  check<UnsupportedError>(identity_ != 0 || library.init_status() == 0,
                          "NVSHMEM: it was started outside Partita in this process");
  check<UnsupportedError>(identity_ == 0 || device_ == device.identity,
                          "NVSHMEM: this process has started it on another device");
  const std::int64_t bytes = symmetric_size_of_environment(share_of(free_bytes));
  return {library.version, device.identity, round_down(bytes, huge_page_bytes), identity_, pe_};
}

std::vector<int> NvshmemWorld::join(runtime::Runtime& state, const NvshmemDevice& device,
                                    const NvshmemLibrary& library) {
  NvshmemCapabilities mine;
  runtime::collectively(state, starting_nvshmem, [&] { mine = offer(state, device, library); });
  std::vector<NvshmemCapabilities> offers = runtime::exchange_values(state, starting_nvshmem, mine);
  const std::string why = obstacle(offers);
  check<UnsupportedError>(why.empty(), "NVSHMEM cannot be used: {}", why);
  if (mine.world == 0) {
    start(state, device, offers, library);
    for (std::size_t rank = 0; rank < offers.size(); ++rank) offers[rank].pe = static_cast<int>(rank);
  }
  std::vector<int> pes;
  for (const NvshmemCapabilities& one : offers) pes.push_back(one.pe);
  return pes;
}

void NvshmemWorld::start(runtime::Runtime& state, const NvshmemDevice& device,
                         std::span<const NvshmemCapabilities> offers, const NvshmemLibrary& library) {
  const std::int64_t bytes = least_of(offers);
  bool mine = false;
  try {
    runtime::collectively(state, starting_nvshmem, [&] {
      check<UnsupportedError>(bytes > 0, "NVSHMEM: a device is out of memory");
      const std::lock_guard lock(mutex_);
      check<UnsupportedError>(!starting_ && identity_ == 0,
                              "NVSHMEM: another context of this process starts it concurrently");
      mine = starting_ = true;
    });
    const auto made = std::make_shared<Start>();
    std::string why = make_id(state, device, made, library);
    if (why.empty()) why = begin(state, device, made, library, bytes);
    check<UnsupportedError>(why.empty(), "NVSHMEM cannot be started: {}", why);
    const std::lock_guard lock(mutex_);
    library_ = &library;
    identity_ = hash_of({made->id.bytes, sizeof(made->id.bytes)}) | 1U;
    pe_ = state.rank();
    device_ = offers[static_cast<std::size_t>(pe_)].device;
    memory_ = static_cast<char*>(made->memory);
    pool_ = NvshmemPool(bytes);
    starting_ = false;
  } catch (const std::exception& error) {
    if (mine) refuse_for_good(error.what());
    throw;
  }
}

void NvshmemWorld::refuse_for_good(const std::string& why) {
  const std::lock_guard lock(mutex_);
  starting_ = false;
  why_failed_ = why;
}

OffsetRange NvshmemWorld::take(runtime::Runtime& state, std::vector<int> pes) {
  std::ranges::sort(pes);
  std::vector<OffsetRange> mine;
  {
    const std::lock_guard lock(mutex_);
    mine = pool_.free_for(pes);
  }
  OffsetRange range = largest_range(common_ranges(runtime::exchange_values(state, starting_nvshmem, mine)));
  check<UnsupportedError>(range.bytes > 0, "NVSHMEM: other contexts use all of its memory");
  range.bytes = std::max(share_of(range.bytes), std::min(range.bytes, huge_page_bytes));
  bool taken = false;
  try {
    runtime::collectively(state, starting_nvshmem, [&] {
      const std::lock_guard lock(mutex_);
      pool_.take(range, pes);
      taken = true;
    });
  } catch (...) {
    if (taken) release(range.first);
    throw;
  }
  return range;
}

void NvshmemWorld::release(std::int64_t first) noexcept {
  const std::lock_guard lock(mutex_);
  pool_.release(first);
}

char* NvshmemWorld::memory_of(int pe) const {
  const std::lock_guard lock(mutex_);
  return pe == pe_ ? memory_ : static_cast<char*>(library_->address_of(memory_, pe));
}

}  // namespace partita::memory
