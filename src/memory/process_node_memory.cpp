#include "memory/process_node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "memory/descriptor_exchange.hpp"
#include "memory/node_limits.hpp"
#include "memory/page.hpp"
#include "memory/threads_node_memory.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

constexpr std::string_view sharing_with_processes = "share memory within the node";

FileDescriptor new_memory_file(const char* name) {
  FileDescriptor result(memfd_create(name, MFD_CLOEXEC));
  check<MemoryError>(static_cast<bool>(result), "cannot make a memory file: {}", std::strerror(errno));
  return result;
}

/// A file beyond RLIMIT_FSIZE would be answered with a signal, so the limit is looked at first.
void set_length(int file, std::int64_t bytes) {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  check<MemoryError>(!limited || static_cast<rlim_t>(bytes) <= limit.rlim_cur,
                     "out of memory: {} bytes requested, the process's limit of a file is {} (see ulimit -f)",
                     bytes, limit.rlim_cur);
  const int result = ftruncate(file, bytes);
  check<MemoryError>(result == 0, "out of memory: cannot make a memory file of {} bytes: {}", bytes,
                     std::strerror(errno));
}

void map_file(int file, char* address, std::int64_t bytes) {
  constexpr int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  void* const mapped = mmap(address, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, flags, file, 0);
  check<MemoryError>(mapped != MAP_FAILED, "cannot map {} bytes of a memory file: {}", bytes,
                     std::strerror(errno));
}

}  // namespace

std::pair<Reservation, std::int64_t> reserve_segments_alike(runtime::Runtime& state, int parts, int nodes) {
  std::pair<Reservation, std::int64_t> result;
  runtime::collectively(state, sharing_with_processes, [&] {
    if (parts == 0) return;
    result = Reservation::segments(parts, preferred_stride(NodeLimits::read().total, parts, nodes));
  });
  constexpr std::int64_t any = std::int64_t{1} << 62;
  const std::int64_t stride = std::ranges::min(
      runtime::exchange_values(state, sharing_with_processes, parts > 0 ? result.second : any));
  if (parts > 0) result.first.trim(stride * parts);
  result.second = stride;
  return result;
}

ProcessNodeMemory::ProcessNodeMemory(runtime::Runtime& state, std::int64_t control_bytes)
    : places_(state.topology(), state.rank()) {
  std::tie(range_, stride_) = reserve_segments_alike(state, places_.count(), 1);
  mine_ = segment(state.rank());
  runtime::collectively(state, sharing_with_processes, [&] {
    growth_ = std::make_unique<SegmentGrowth>(stride_, heap_limit(state.options), backing());
    make_files(state, control_bytes);
  });
  map_files(state, control_bytes);
}

void ProcessNodeMemory::make_files(runtime::Runtime& state, std::int64_t control_bytes) {
  segment_file_ = new_memory_file("partita-segment");
  if (state.rank() != places_.first()) return;
  control_file_ = new_memory_file("partita-control");
  set_length(control_file_.get(), round_up(control_bytes, page_bytes));
}

void ProcessNodeMemory::map_files(runtime::Runtime& state, std::int64_t control_bytes) {
  std::vector<int> mine{segment_file_.get()};
  if (control_file_) mine.push_back(control_file_.get());
  const auto files = exchange_descriptors(state, sharing_with_processes, mine);
  runtime::collectively(state, sharing_with_processes, [&] {
    for (const int rank : places_.ranks()) {
      const auto& theirs = files[static_cast<std::size_t>(rank)];
      map_file(rank == state.rank() ? segment_file_.get() : theirs.at(0).get(), segment(rank), stride_);
    }
    const std::int64_t bytes = round_up(control_bytes, page_bytes);
    control_ = Reservation(round_up(bytes, huge_page_bytes));
    const auto& first = files[static_cast<std::size_t>(places_.first())];
    map_file(control_file_ ? control_file_.get() : first.at(1).get(), control_.data(), bytes);
  });
  control_file_.reset();
}

/// Segments grow alike, so what is beyond the own memory is beyond what this process has used of others'.
void ProcessNodeMemory::give_back_addresses() noexcept {
  const std::int64_t used = growth_->populated();
  for (const int rank : places_.ranks()) release_addresses(segment(rank) + used, stride_ - used);
}

SegmentGrowth::Backing ProcessNodeMemory::backing() {
  return {.populate =
              [this](std::int64_t first, std::int64_t end) {
                set_length(segment_file_.get(), end);
                populate_memory_file(segment_file_.get(), mine_, first, end);
              },
          .give_back =
              [this](std::int64_t first, std::int64_t) {
                // Shrinking a file cannot fail for want of memory.
                [[maybe_unused]] const int result = ftruncate(segment_file_.get(), first);
              },
          .check_room = [ranks = places_.count()](std::int64_t bytes) { check_headroom(bytes, ranks); }};
}

std::unique_ptr<NodeMemory> NodeMemory::create(runtime::Runtime& state, std::int64_t control_bytes) {
  if (state.group->in_process()) return std::make_unique<ThreadsNodeMemory>(state, control_bytes);
  return std::make_unique<ProcessNodeMemory>(state, control_bytes);
}

}  // namespace partita::memory
