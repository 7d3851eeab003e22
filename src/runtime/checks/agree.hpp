// The one collective check: what must be the same on all ranks is compared in one small exchange.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <partita/error.hpp>
#include <partita/fact.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/serialize.hpp"

namespace partita::runtime {

class Rendezvous;
struct Report;
struct Runtime;
struct Summary;

/// Compares the operation's name and the facts over all ranks: one hash per rank; the values are exchanged
/// only if hashes differ. If they differ: DisagreementError with the same text on every rank, which names the
/// ranks and both values: `redistribute: the ranks disagree on shape: 8x8 on ranks 0,1,3; 8x9 on rank 2`.
/// Collective, blocking, within the deadline.
void agree(Runtime& state, std::string_view operation, std::span<const Fact> facts);

/// Runs `local` (checks of this rank's own arguments), catching what it throws; then compares as `agree`
/// does. If `local` threw on some rank, the exception of the lowest such rank is thrown on every rank (same
/// type, same text, which names the rank when not all ranks threw). `local` returns the facts.
void collectively(Runtime& state, std::string_view operation,
                  const std::function<std::vector<Fact>()>& local);

/// The same where nothing is compared but what `local` throws.
template <class Local>
requires std::is_void_v<std::invoke_result_t<Local>>
void collectively(Runtime& state, std::string_view operation, Local&& local) {
  collectively(state, operation, [&] { return local(), std::vector<Fact>(); });
}

/// In the handler of an exception: throws it on all ranks, if they come to listen.
[[noreturn]] void throw_on_all(Runtime& state, std::string_view operation);

/// The same before the operation has begun: whichever check the others come to next, they throw this. What
/// all ranks throw already is thrown as it is. See <partita/refusal.hpp>.
[[noreturn]] void refuse_on_all(Runtime& state, std::string_view operation, const std::exception_ptr& error);

/// What `check` throws on this rank is thrown on all ranks. Communicates only then.
template <class Check>
void check_or_tell_all(Runtime& state, std::string_view operation, Check&& check) {
  try {
    check();
  } catch (...) {  // no memory, too
    throw_on_all(state, operation);
  }
}

/// Every rank's bytes, on every rank. Sizes may differ. Dissemination in ceil(log2 P) rounds (Bruck et al.
/// 1997). Collective, blocking.
std::vector<std::string> exchange(Runtime& state, std::string_view operation, std::string_view mine);

/// The same of values that `serialize` takes.
template <class Value>
std::vector<Value> exchange_values(Runtime& state, std::string_view operation, const Value& mine) {
  std::vector<Value> all;
  for (const std::string& bytes : exchange(state, operation, serialize(mine))) {
    all.push_back(deserialize<Value>(bytes));
  }
  return all;
}

/// The largest of these, on every rank. Collective, blocking; as `exchange`.
template <class Value>
Value largest_of_ranks(Runtime& state, std::string_view operation, const Value& mine) {
  return std::ranges::max(exchange_values(state, operation, mine));
}

// --- in a rendezvous, whose members first make sure that all are in the same call

/// Joins the summaries; where they do not agree, the members exchange their reports and all throw the same
/// error.
Summary resolve(Rendezvous& rendezvous, Summary mine, const std::function<Report()>& report);

/// `collectively` in a rendezvous, which also gives the largest `value` of all members.
Summary collectively(Rendezvous& rendezvous, std::string_view operation, std::uint64_t value,
                     const std::function<std::vector<Fact>()>& local);

/// Returns when all ranks are in it.
void barrier(Runtime& state, std::string_view operation = "barrier");

}  // namespace partita::runtime
