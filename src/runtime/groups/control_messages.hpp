// Small messages on the control lane, whose buffers live as long as the transport may touch them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

struct Runtime;

/// The messages of one collective call. If it is destroyed while messages are in transit (an exception),
/// their buffers are kept until the process exits.
class ControlMessages {
 public:
  /// `not_here(peer)`: whom a wait for `peer` is really for, for errors.
  ControlMessages(Runtime& state, std::string_view operation, std::function<std::vector<int>(int)> not_here);
  ~ControlMessages();
  ControlMessages(const ControlMessages&) = delete;
  ControlMessages& operator=(const ControlMessages&) = delete;

  void send(int peer, std::span<const std::byte> bytes);  ///< copies; does not block
  /// Waits for the next message of `peer`; the bytes stay valid while this object lives.
  std::span<const std::byte> receive(int peer, std::size_t bytes);
  void finish();  ///< waits until all sends are complete

 private:
  struct Message {
    int peer = -1;
    MessageId id = -1;
    std::vector<std::byte> bytes;
    bool complete = false;
  };
  void complete(Message& message, bool sending);
  template <class Action>
  auto guarded(Action&& action);

  Runtime& state_;
  std::string_view operation_;
  std::function<std::vector<int>(int)> not_here_;
  std::vector<std::unique_ptr<Message>> messages_;
};

}  // namespace partita::runtime
