#include "runtime/checks/rank_mail.hpp"

#include <algorithm>
#include <utility>

#include "runtime/groups/process_group.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {
namespace {

constexpr int most_untaken = 8;  // texts

// Before each piece of a text: its topic, and whether it is the last one.
constexpr std::size_t head = 2, piece_bytes = longest_farewell - head;
constexpr char last_piece = 1, further_piece = 0;

/// Of these there may be ever more while a rank takes none.
bool is_limited(MailTopic topic) {
  return topic == MailTopic::question || topic == MailTopic::probe;
}

}  // namespace

bool RankMail::tell(Runtime& context, int rank, MailTopic topic, std::string_view text) {
  const bool is_confirmed = is_limited(topic);
  if (is_confirmed && untaken_[rank] == most_untaken) return false;
  if (is_confirmed) ++untaken_[rank];
  bool is_last = false;
  while (!is_last) {
    const std::string_view piece = text.substr(0, piece_bytes);
    text.remove_prefix(piece.size());
    is_last = text.empty();
    std::string note{static_cast<char>(topic), is_last ? last_piece : further_piece};
    context.group->tell(rank, {context.identity, context.rank(), note.append(piece)});
  }
  return true;
}

std::vector<RankMail::Text> RankMail::take(Runtime& context) {
  std::vector<Text> whole;
  for (const Note& note : context.group->take_notes(context.identity)) {
    if (note.text.size() < head || note.rank < 0 || note.rank >= context.size()) continue;
    std::string& text = begun_[note.rank].append(note.text, head);
    if (note.text[1] != last_piece) continue;
    const auto topic = static_cast<MailTopic>(note.text.front());
    if (topic == MailTopic::taken) {
      untaken_[note.rank] = std::max(0, untaken_[note.rank] - 1);
    } else {
      if (is_limited(topic)) tell(context, note.rank, MailTopic::taken, {});
      whole.push_back({note.rank, topic, std::move(text)});
    }
    begun_.erase(note.rank);
  }
  return whole;
}

}  // namespace partita::runtime
