// What ranks execute, as they tell one another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/verdict.hpp"

namespace partita::runtime {

struct Runtime;

/// All executions of a context up to one of them, as two numbers.
struct Executed {
  std::uint64_t number = 0;  ///< of the latest: 1, 2, ...
  std::uint64_t chain = 0;   ///< of what all of them were
  friend bool operator==(const Executed&, const Executed&) = default;
};

/// Announces an execution with this hash, before any of it can reach a peer: executions are collective, so
/// all ranks have the same count and the same chain of hashes. `captured`: the execution is added to a graph,
/// whose launches are not observed; those are numbered separately. `note`: for errors.
Executed announce(Runtime& context, std::uint64_t hash, std::string_view operation, bool captured = false,
                  const ExecutionNote& note = {});

/// One number for all that this rank has executed and captured.
std::uint64_t history_of(const Runtime& context);
/// The same for people.
std::string history_text(const Runtime& context);

/// The latest executions of this rank that are still known in words, the oldest first.
std::vector<ExecutedBefore> latest_executions(const Runtime& context);

/// Throws DisagreementError, after failing the context, where some rank of this node has announced something
/// else than this rank. One that has announced less passes.
void compare_announcements(Runtime& context, std::string_view operation);
/// The same of the rank of that place in the node, and of executions only. It has given what this rank has
/// waited for in execution `number`, so it must have announced as many.
void compare_announcements(Runtime& context, std::string_view operation, int node_rank, std::uint64_t number);

/// All ranks have come to the check that this rank is in, which compares what they have executed. Others may
/// have left it, and throw what it has found: then no rank may find other words. Contexts of one node; any
/// thread.
bool all_are_in_check(const Runtime& context);
/// That rank of the node has had all of the check that this rank is in, and whatever becomes of it, so will
/// this rank. Any thread.
bool has_left_check(const Runtime& context, int node_rank);

/// Where two ranks have executed different things first, as one of them knows it.
struct AnnouncedDifference {
  CaughtError error;
  Question question;
};

/// What `compare_announcements` would throw. Any thread.
std::optional<AnnouncedDifference> announced_difference(const Runtime& context, std::string_view operation);

}  // namespace partita::runtime
