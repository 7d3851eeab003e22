#include "runtime/groups/heard_farewells.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace partita::runtime {
namespace {

/// What arrives for contexts that are over by then is never asked for: the oldest is removed.
constexpr std::size_t most_heard = 16384;

}  // namespace

FarewellMessage::FarewellMessage(const Farewell& farewell)
    : context(farewell.context),
      rank(farewell.rank),
      sort(farewell.failed ? Sort::failed : Sort::left),
      kind(static_cast<std::uint8_t>(farewell.why.kind)),
      of_all(farewell.why.of_all) {
  bytes = static_cast<std::uint16_t>(farewell.why.text.copy(text.data(), text.size() - 1));
}

FarewellMessage::FarewellMessage(const Note& note)
    : context(note.context), rank(note.rank), sort(Sort::note) {
  bytes = static_cast<std::uint16_t>(note.text.copy(text.data(), text.size() - 1));
}

void HeardFarewells::add(const FarewellMessage& message) {
  std::string words(message.text.data(), message.bytes);
  if (message.sort == FarewellMessage::Sort::note) {
    if (notes_.size() == most_heard) notes_.pop_front();
    notes_.push_back({message.context, message.rank, std::move(words)});
    return;
  }
  const bool known = std::any_of(heard_.begin(), heard_.end(), [&](const Farewell& before) {
    return before.context == message.context && before.rank == message.rank;
  });
  if (known) return;
  if (heard_.size() == most_heard) heard_.erase(heard_.begin());
  const bool failed = message.sort == FarewellMessage::Sort::failed;
  heard_.push_back({message.context,
                    message.rank,
                    failed,
                    {static_cast<ErrorKind>(message.kind), std::move(words), message.of_all}});
}

std::vector<Farewell> HeardFarewells::of(std::uint64_t context) const {
  std::vector<Farewell> ours;
  std::copy_if(heard_.begin(), heard_.end(), std::back_inserter(ours),
               [&](const Farewell& farewell) { return farewell.context == context; });
  return ours;
}

std::vector<Note> HeardFarewells::take_notes(std::uint64_t context) {
  std::vector<Note> ours;
  for (Note& note : notes_)
    if (note.context == context) ours.push_back(std::move(note));
  std::erase_if(notes_, [&](const Note& note) { return note.context == context; });
  return ours;
}

}  // namespace partita::runtime
