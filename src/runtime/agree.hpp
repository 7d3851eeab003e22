// The one collective check: what must be the same on all ranks is compared in one small exchange.
#pragma once

#include <algorithm>
#include <functional>
#include <partita/fact.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/serialize.hpp"

namespace partita {

struct Runtime;

/// Compares the operation's name and the facts over all ranks: one hash a rank; the values travel only when
/// hashes differ. Where they differ, DisagreementError with the same text on every rank, which names the
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

/// The same on every rank. Collective, blocking; as `exchange`.
template <class Value>
Value largest_of_ranks(Runtime& state, std::string_view operation, const Value& mine) {
  return std::ranges::max(exchange_values(state, operation, mine));
}

}  // namespace partita
