// Texts of any length from one rank of a context to another one, as notes, past all messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace partita::runtime {

struct Runtime;

enum class MailTopic : std::uint8_t { question = 1, answer, probe, ring, taken };

/// Used by the thread that uses the context. The receiver says what it has taken, so that a rank that takes
/// nothing for long, because it computes, keeps a few notes of each rank at the most.
class RankMail {
 public:
  struct Text {
    int from = -1;
    MailTopic topic = MailTopic::question;
    std::string text;
  };
  /// False: the rank has not taken what this one has told it before, and is told no more.
  bool tell(Runtime& context, int rank, MailTopic topic, std::string_view text);
  /// What has arrived whole, of each rank in its order.
  std::vector<Text> take(Runtime& context);

 private:
  std::map<int, std::string> begun_;  ///< by rank: the beginning of what it tells
  std::map<int, int> untaken_;        ///< by rank: how much
};

}  // namespace partita::runtime
