// What a Context is made of.
#pragma once

#include <spdlog/logger.h>

#include <any>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <partita/context.hpp>
#include <partita/plan.hpp>
#include <string>
#include <unordered_map>

#include "memory/node_memory.hpp"
#include "memory/symmetric_heap.hpp"
#include "runtime/node_board.hpp"
#include "runtime/process_group.hpp"

namespace partita {

struct ContextState {
  ContextOptions options;
  int threads = 1;
  std::shared_ptr<spdlog::logger> log;
  // Order matters: members are destroyed from the last to the first.
  std::unique_ptr<ProcessGroup> group;
  std::unique_ptr<NodeMemory> node_memory;
  std::unique_ptr<NodeBoard> board;
  std::unique_ptr<SymmetricHeap> heap;
  /// Bound plans, keyed by operation, operands and options (a text). The values are the operations' own.
  std::unordered_map<std::string, std::shared_ptr<void>> plans;
  bool closed = false;
  /// Executions begun on this context; every rank counts alike, since executions are collective.
  std::uint64_t executions = 0;
  /// Signals of earlier executions, by node rank and channel: counters only grow.
  std::vector<std::array<std::uint64_t, channel_count>> signals_seen;

  int rank() const { return group->rank(); }
  int size() const { return group->size(); }
  const Topology& topology() const { return group->topology(); }

  /// Throws FailedContextError or (closed) ArgumentError. The first line of every call on a context.
  void require_usable(std::string_view operation) const;
  /// Marks the context failed, here and on the node's board; the first failure stays.
  void fail(const std::string& why) noexcept;
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  std::string failure() const;

  ~ContextState();

 private:
  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  std::string failure_;
};

}  // namespace partita
