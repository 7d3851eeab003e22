// Letters: messages with a tag from one rank to another, outside of collective calls.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <partita/dtype.hpp>
#include <string_view>
#include <vector>

#include "context/context_state.hpp"

namespace partita::collective {

/// What goes before every letter.
struct Envelope {
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
  std::int64_t dtype = 0;
};

struct Letter {
  Envelope envelope;
  std::vector<std::byte> content;
};

/// A letter on its way. What it is written in must stay until it is sent; if an exception comes between, an
/// inner buffer stays until the process ends.
class Posting {
 public:
  Posting(ContextState& context, int to, Envelope envelope, const void* content,
          std::shared_ptr<void> keep = {});
  ~Posting();
  Posting(const Posting&) = delete;
  Posting& operator=(const Posting&) = delete;
  void finish();  ///< waits until it has left
  bool left();    ///< whether it has; does not wait

 private:
  ContextState& context_;
  int to_;
  std::shared_ptr<Envelope> envelope_;
  std::shared_ptr<void> keep_;
  MessageId first_ = -1;
  MessageId second_ = -1;
};

/// What has come and was not asked for yet, by sender, and letters to oneself. One a context.
class LetterBox {
 public:
  static LetterBox& of(ContextState& context);
  ~LetterBox();

  /// Of letters whose content is a copy, nobody waits for the end: they are looked after here.
  void keep(std::unique_ptr<Posting> posting);

  void put(int from, Letter letter) { letters_[from].push_back(std::move(letter)); }
  /// Waits for the oldest letter of this tag. One that fits (dtype and bytes) is written to `content`, where
  /// nothing had to be kept before; ArgumentError otherwise, and the letter is gone. `keep`: owns the memory,
  /// if not the caller's.
  void receive(ContextState& context, int from, const Envelope& wanted, std::byte* content,
               const std::shared_ptr<void>& keep = {});

 private:
  void forget_those_that_left();

  std::map<int, std::deque<Letter>> letters_;
  std::deque<std::unique_ptr<Posting>> on_their_way_;
};

}  // namespace partita::collective
