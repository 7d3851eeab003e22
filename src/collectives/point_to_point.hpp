// Point to point: messages with a tag from one rank to another, outside of collective calls.
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

/// The header of every message.
struct MessageHeader {
  std::int64_t tag = 0;
  std::int64_t bytes = 0;
  std::int64_t dtype = 0;
};

struct UnexpectedMessage {
  MessageHeader header;
  std::vector<std::byte> content;
};

/// A message on its way. What it is written in must stay until it is sent; if an exception comes between, an
/// inner buffer stays until the process ends.
class PendingSend {
 public:
  PendingSend(ContextState& context, int to, MessageHeader header, const void* content,
              std::shared_ptr<void> keep = {});
  ~PendingSend();
  PendingSend(const PendingSend&) = delete;
  PendingSend& operator=(const PendingSend&) = delete;
  void finish();  ///< waits until it has left
  bool left();    ///< whether it has; does not wait

 private:
  ContextState& context_;
  int to_;
  std::shared_ptr<MessageHeader> header_;
  std::shared_ptr<void> keep_;
  runtime::MessageId first_ = -1;
  runtime::MessageId second_ = -1;
};

/// What has come and was not asked for yet, by sender, and messages to oneself. One a context.
class UnexpectedQueue {
 public:
  static UnexpectedQueue& of(ContextState& context);
  ~UnexpectedQueue();

  /// Messages whose content is a copy are not waited for: they are completed here.
  void keep(std::unique_ptr<PendingSend> pending);

  void put(int from, UnexpectedMessage message) { messages_[from].push_back(std::move(message)); }
  /// Waits for the oldest message with this tag. If it matches (dtype and bytes) it is written to `content`;
  /// otherwise ArgumentError, and the message is discarded. `keep`: owns the memory, if not the caller's.
  void receive(ContextState& context, int from, const MessageHeader& wanted, std::byte* content,
               const std::shared_ptr<void>& keep = {});

 private:
  void forget_those_that_left();

  std::map<int, std::deque<UnexpectedMessage>> messages_;
  std::deque<std::unique_ptr<PendingSend>> on_their_way_;
};

}  // namespace partita::collective
