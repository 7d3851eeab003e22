// What ranks of different nodes ask one another when a wait does not end, or when they do not do the same.
// Questions and answers are notes, separate from all messages: a waiting rank takes and answers them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/board/node_board.hpp"
#include "runtime/board/ring_probe.hpp"
#include "runtime/checks/call_notes.hpp"
#include "runtime/checks/rank_mail.hpp"
#include "runtime/checks/verdict.hpp"
#include "runtime/checks/withdrawal.hpp"

namespace partita::runtime {

/// Where a rank is, as it says itself.
struct Standing {
  std::uint64_t executions = 0, agreements = 0;
  std::uint8_t in_agreement = 0;
  std::vector<std::uint64_t> chains;  ///< of the latest executions; the last one is that of `executions`
  std::string operation;              ///< the latest check that it began
  std::vector<CaughtError> refusal;   ///< what kept it from that: one or none
  std::vector<Report> report;         ///< what it was asked for: one or none
  struct Wait {
    std::uint64_t number = 0;  ///< another one for each; 0: it is in none that takes long
    std::uint64_t context = 0;
    std::uint8_t for_message = 0;
    std::vector<std::uint64_t> awaited;  ///< ranks there, as bits
    std::string operation;
    bool is_for(int other) const;
  } wait;

  static Standing of(const Runtime& context);
  /// Nothing: not begun, or too long ago.
  std::optional<std::uint64_t> chain(std::uint64_t number) const;
};

/// The notes of a context; all but those of `CallNotes` are known to the thread that uses it.
struct NotesOfNodes : CallNotes {
  RankMail mail;
  std::uint64_t asked = 0;
  std::map<std::uint64_t, std::map<int, Standing>> answers;  ///< to the latest questions, by rank
  std::deque<RingProbe> probes;                              ///< that have come
  std::uint64_t waits = 0;                                   ///< that have sent probes
  std::uint64_t latest_of_all =
      0;  ///< the latest execution whose work on the device ends when all ranks have begun it
  Withdrawals withdrawals;
};

NotesOfNodes& notes_of_nodes(Runtime& context);

/// The execution that has begun gives the device work that waits for all ranks of the node, which no flag
/// shows.
void note_work_of_all(Runtime& context);

/// Whether this is the thread that uses the context, which takes its notes.
bool takes_notes(const Runtime& context);
/// The ranks of other nodes that are asked together: all, but none in large contexts.
std::vector<int> ranks_to_ask(const Runtime& context);

/// Asks ranks of other nodes. The number is for `answers_of_nodes`.
std::uint64_t ask_nodes(Runtime& context, const Question& question, const std::vector<int>& ranks);
/// The ranks that have answered so far.
const std::map<int, Standing>& answers_of_nodes(Runtime& context, std::uint64_t number);
/// Takes the notes that have come, and answers what is asked. `report`: what this rank says to a question.
void take_notes(Runtime& context, const std::function<std::optional<Report>(const Question&)>& report);

/// What this rank has found to be wrong, for the ranks of other nodes: the words of the lowest rank count.
void propose_words(Runtime& context, const CaughtError& words);
std::map<int, CaughtError> proposed_words(const Runtime& context);
/// What was proposed, of which `heard` is what a rank of another node said when it failed: as much as a
/// farewell holds.
std::optional<CaughtError> proposed_as(const Runtime& context, const CaughtError& heard);
/// The words that count, once all who have found something at the same time have heard of each other; of one
/// rank per node.
CaughtError words_of_all_nodes(Runtime& context, std::string_view mine, const CaughtError& words);

}  // namespace partita::runtime
