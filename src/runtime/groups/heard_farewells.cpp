#include "runtime/groups/heard_farewells.hpp"

#include <algorithm>
#include <iterator>

namespace partita::runtime {
namespace {

/// What arrives for contexts that are over by then is never asked for: the oldest is removed.
constexpr std::size_t most_heard = 16384;

}  // namespace

FarewellMessage::FarewellMessage(const Farewell& farewell)
    : context(farewell.context),
      rank(farewell.rank),
      failed(farewell.failed ? 1 : 0),
      kind(static_cast<std::uint8_t>(farewell.why.kind)) {
  bytes = static_cast<std::uint16_t>(farewell.why.text.copy(text.data(), text.size() - 1));
}

Farewell FarewellMessage::farewell() const {
  return {context, rank, failed != 0, {static_cast<ErrorKind>(kind), {text.data(), bytes}}};
}

void HeardFarewells::note(const Farewell& farewell) {
  const bool known = std::any_of(heard_.begin(), heard_.end(), [&](const Farewell& before) {
    return before.context == farewell.context && before.rank == farewell.rank;
  });
  if (known) return;
  if (heard_.size() == most_heard) heard_.erase(heard_.begin());
  heard_.push_back(farewell);
}

std::vector<Farewell> HeardFarewells::of(std::uint64_t context) const {
  std::vector<Farewell> ours;
  std::copy_if(heard_.begin(), heard_.end(), std::back_inserter(ours),
               [&](const Farewell& farewell) { return farewell.context == context; });
  return ours;
}

}  // namespace partita::runtime
