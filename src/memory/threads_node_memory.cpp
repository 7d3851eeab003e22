#include "memory/threads_node_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "memory/node_limits.hpp"
#include "memory/page.hpp"
#include "memory/process_node_memory.hpp"
#include "memory/reservation.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

constexpr std::string_view sharing_with_threads = "share memory within the node";

void make_writable(char* first, std::int64_t bytes) {
  const int result = mprotect(first, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE);
  check<MemoryError>(result == 0, "out of memory: the system refused {} bytes: {}", bytes,
                     std::strerror(errno));
}

/// Whatever was there: it is reserved again, and its memory is free. Where the system refuses, it stays, and
/// the next growth finds it there.
void make_reserved(char* first, std::int64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  [[maybe_unused]] const void* const reserved =
      mmap(first, static_cast<std::size_t>(bytes), PROT_NONE, flags, -1, 0);
}

SegmentGrowth::Backing anonymous_backing(char* segment, int node_ranks) {
  return {.populate =
              [segment](std::int64_t first, std::int64_t end) {
                make_writable(segment + first, end - first);
                populate_anonymous(segment + first, end - first);
              },
          .give_back = [segment](std::int64_t first,
                                 std::int64_t end) { make_reserved(segment + first, end - first); },
          .check_room = [node_ranks](std::int64_t bytes) { check_headroom(bytes, node_ranks); }};
}

}  // namespace

/// Made by the first rank of the node.
struct ThreadsNodeMemory::Shared {
  Reservation range;
  std::int64_t stride = 0;
  Reservation control;
};

ThreadsNodeMemory::ThreadsNodeMemory(runtime::Runtime& state, std::int64_t control_bytes)
    : places_(state.topology(), state.rank()), rank_(state.rank()) {
  const bool first = state.rank() == places_.first();
  std::shared_ptr<Shared> made;
  if (first) made = std::make_shared<Shared>();
  auto reserved = reserve_segments_alike(state, first ? places_.count() : 0, state.topology().node_count());
  runtime::collectively(state, sharing_with_threads, [&] {
    if (!first) return;
    made->range = std::move(reserved.first);
    made->stride = reserved.second;
    made->control = Reservation(round_up(control_bytes, huge_page_bytes));
    make_writable(made->control.data(), made->control.bytes());
  });
  receive_shared(state, std::move(made));
}

/// The address of the first rank's pointer travels; all have copied it before the first rank frees it. When
/// that cannot be known (a passed deadline), it stays.
void ThreadsNodeMemory::receive_shared(runtime::Runtime& state, std::shared_ptr<Shared> made) {
  auto pointer = std::make_shared<std::shared_ptr<Shared>>(std::move(made));
  try {
    const std::shared_ptr<Shared>* const address = pointer.get();
    const auto addresses = runtime::exchange_values(state, sharing_with_threads, address);
    runtime::collectively(state, sharing_with_threads,
                          [&] { adopt(*addresses[static_cast<std::size_t>(places_.first())], state); });
  } catch (...) {
    runtime::keep_until_exit(std::move(pointer));
    throw;
  }
}

void ThreadsNodeMemory::adopt(const std::shared_ptr<Shared>& theirs, const runtime::Runtime& state) {
  shared_ = theirs;
  growth_ = std::make_unique<SegmentGrowth>(shared_->stride, heap_limit(state.options),
                                            anonymous_backing(segment(state.rank()), places_.count()));
}

void* ThreadsNodeMemory::control() {
  return shared_->control.data();
}
char* ThreadsNodeMemory::segment(int rank) {
  return places_.segment(shared_->range.data(), shared_->stride, rank);
}
std::int64_t ThreadsNodeMemory::stride() const {
  return shared_->stride;
}

/// Of its own segment alone: the others' ranks may not have heard of the failure, and still grow.
void ThreadsNodeMemory::give_back_addresses() noexcept {
  release_addresses(segment(rank_) + growth_->populated(), stride() - growth_->populated());
}

}  // namespace partita::memory
