#include "memory/symmetric_heap.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <partita/source_place.hpp>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/difference.hpp"
#include "runtime/checks/rank_list.hpp"
#include "runtime/groups/rendezvous.hpp"

namespace partita::memory {
namespace {

std::string place_text(const SourcePlace& where) {
  return fmt::format("{}:{}", std::filesystem::path(where.file_name()).filename().string(), where.line());
}

}  // namespace

SymmetricHeap::SymmetricHeap(runtime::Runtime& state, NodeMemory& memory, Settle settle, MakeRoom make_room,
                             std::string_view what)
    : allocating_(fmt::format("allocate {}", what)),
      freeing_(fmt::format("free {}", what)),
      collecting_(fmt::format("collect {}", what)),
      state_(state),
      memory_(memory),
      settle_(std::move(settle)),
      make_room_(std::move(make_room)),
      blocks_(state.size()),
      free_list_(memory.stride()) {}

/// One rendezvous: what must agree, the largest size, and whether any rank reports drops. They are reported
/// it, and what all ranks have dropped is free afterwards.
runtime::Summary SymmetricHeap::meet(runtime::Rendezvous& rendezvous, std::string_view operation,
                                     const runtime::Report& report, std::int64_t bytes) {
  runtime::Summary mine = runtime::Summary::of(hash_of(operation), hash_of_facts(report.facts));
  mine.threw = report.threw ? 1 : 0;
  mine.largest = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  // Asked once: another thread may drop a block at any time, which is then reported at the next rendezvous.
  const std::vector<std::uint64_t>& dropped = blocks_.unreported_drops();
  std::string drops = dropped.empty() ? "" : serialize(dropped);
  if (!settle_(operation, !drops.empty())) drops.clear();  // streams may still use them
  mine.bytes_smallest = mine.bytes_largest = static_cast<std::int64_t>(drops.size());
  const runtime::Summary all = runtime::resolve(rendezvous, mine, [&] { return report; });
  release_dropped(rendezvous, all, drops);
  return all;
}

void SymmetricHeap::release_dropped(runtime::Rendezvous& rendezvous, const runtime::Summary& all,
                                    const std::string& mine) {
  if (all.bytes_largest == 0) return;
  if (!mine.empty()) blocks_.note_told();
  std::vector<std::vector<std::uint64_t>> by_rank;
  for (const std::string& theirs : rendezvous.gather(mine, all.bytes_smallest == all.bytes_largest)) {
    if (!theirs.empty()) by_rank.push_back(deserialize<std::vector<std::uint64_t>>(theirs));
  }
  for (const std::uint64_t id : blocks_.report_drops(by_rank)) free_list_.release(blocks_.remove(id));
}

HeapBlock SymmetricHeap::allocate(std::int64_t bytes, Sizes sizes, std::string_view purpose,
                                  SourcePlace where) {
  state_.require_usable(allocating_);
  runtime::Report report;
  report.operation = allocating_;
  report.facts = {{"purpose", std::string(purpose)},
                  {"sizes", sizes == Sizes::equal ? "equal" : "the largest of all ranks"}};
  if (sizes == Sizes::equal) report.facts.push_back({"bytes", fmt::format("{}", bytes)});
  report.threw = bytes < 0;
  report.error = {runtime::ErrorKind::argument,
                  fmt::format("{}: {} is a negative number of bytes", allocating_, bytes)};
  runtime::Summary all;
  {
    runtime::Rendezvous rendezvous(state_, allocating_);
    all = meet(rendezvous, allocating_, report, bytes);
  }
  const auto largest = static_cast<std::int64_t>(all.largest);
  const std::int64_t offset = place_with_room(largest);
  bytes_allocated_ += largest;
  return blocks_.add(offset, largest, purpose, place_text(where));
}

/// Every rank comes here alike, and fails alike.
std::int64_t SymmetricHeap::place_with_room(std::int64_t bytes) {
  for (;;) {
    try {
      return place(bytes);
    } catch (const MemoryError&) {
      if (state_.failed() || !make_room_()) throw;
    }
    collect();
  }
}

/// Every rank finds the same place without talking; only growing can go well on one and fail on another.
std::int64_t SymmetricHeap::place(std::int64_t bytes) {
  const auto offset = free_list_.allocate(bytes);
  check<MemoryError>(
      offset.has_value(),
      "{}: out of memory: {} bytes requested, the largest free part of the {} bytes reserved for "
      "each rank is {}",
      allocating_, bytes, memory_.stride(), free_list_.largest());
  if (*offset + bytes <= grown_) return *offset;
  try {
    grow(*offset + bytes);
  } catch (...) {
    free_list_.release(*offset);
    throw;
  }
  return *offset;
}

void SymmetricHeap::grow(std::int64_t bytes) {
  runtime::collectively(state_, allocating_, [&] {
    try {
      memory_.grow(bytes);
    } catch (const MemoryError& error) {
      throw MemoryError(fmt::format("{}: {}", allocating_, error.what()));
    }
  });
  memory_.share_growth();
  grown_ = bytes;
}

void SymmetricHeap::collect() {
  state_.require_usable(collecting_);
  runtime::Report report;
  report.operation = collecting_;
  runtime::Rendezvous rendezvous(state_, collecting_);
  meet(rendezvous, collecting_, report, 0);
}

/// Different blocks are no disagreement on an argument but an error of memory, so the ids are compared here
/// and not as a fact.
void SymmetricHeap::free(void* pointer) {
  state_.require_usable(freeing_);
  runtime::Report report;
  report.operation = freeing_;
  std::uint64_t id = 0;
  try {
    id = blocks_.find(segment_offset(pointer));
  } catch (const MemoryError& error) {
    report.threw = true;
    report.error = {runtime::ErrorKind::memory, fmt::format("{}: {}", freeing_, error.what())};
  }
  runtime::Summary mine = runtime::Summary::of(hash_of(freeing_));
  mine.threw = report.threw ? 1 : 0;
  mine.bytes_smallest = mine.bytes_largest = static_cast<std::int64_t>(id);
  runtime::Rendezvous rendezvous(state_, freeing_);
  const runtime::Summary all = runtime::resolve(rendezvous, mine, [&] { return report; });
  if (all.bytes_smallest != all.bytes_largest) {
    const auto blocks = rendezvous.gather(fmt::format("block {}, {}", id, blocks_.describe(id)), false);
    std::vector<int> ranks(blocks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    throw MemoryError(fmt::format("{}: the ranks free different blocks: {}", freeing_,
                                  runtime::values_of_ranks(blocks, ranks)));
  }
  free_list_.release(blocks_.remove(id));
}

/// Throws MemoryError: not in this rank's segment.
std::int64_t SymmetricHeap::segment_offset(const void* pointer) const {
  check<MemoryError>(pointer != nullptr, "a null pointer (already freed, or never allocated)");
  const auto first = reinterpret_cast<std::uintptr_t>(at(state_.rank(), 0));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto stride = static_cast<std::uintptr_t>(memory_.stride());
  check<MemoryError>(address >= first && address - first < stride,
                     "the pointer is not from the symmetric heap (a foreign pointer)");
  return static_cast<std::int64_t>(address - first);
}

std::int64_t SymmetricHeap::offset_of(const void* pointer) const {
  const auto first = reinterpret_cast<std::uintptr_t>(at(state_.rank(), 0));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto stride = static_cast<std::uintptr_t>(memory_.stride());
  if (address < first || address - first >= stride) return -1;
  const auto offset = static_cast<std::int64_t>(address - first);
  return blocks_.contains(offset) ? offset : -1;
}

}  // namespace partita::memory
