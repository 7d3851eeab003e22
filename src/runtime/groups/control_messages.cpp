#include "runtime/groups/control_messages.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/groups/kept_until_exit.hpp"
#include "runtime/runtime.hpp"

namespace partita::runtime {

ControlMessages::ControlMessages(Runtime& state, std::string_view operation,
                                 std::function<std::vector<int>(int)> not_here)
    : state_(state), operation_(operation), not_here_(std::move(not_here)) {}

ControlMessages::~ControlMessages() {
  for (auto& message : messages_) {
    if (!message->complete) keep_until_exit(std::shared_ptr<Message>(std::move(message)));
  }
}

// What the transport reports (a message of another size, a dead peer) fails the context.
template <class Action>
auto ControlMessages::guarded(Action&& action) {
  try {
    return action();
  } catch (const DisagreementError& misfit) {
    state_.give_up({ErrorKind::disagreement, fmt::format("{}: {}", operation_, misfit.what())});
  } catch (const Error& error) {
    state_.give_up({ErrorKind::lost_peer, fmt::format("{}: {}", operation_, error.what())});
  }
}

void ControlMessages::send(int peer, std::span<const std::byte> bytes) {
  auto message = std::make_unique<Message>();
  message->peer = peer;
  message->bytes.assign(bytes.begin(), bytes.end());
  messages_.push_back(std::move(message));
  Message& last = *messages_.back();
  last.id = guarded([&] {
    return state_.group->send(peer, Lane::control, last.bytes.data(),
                              static_cast<std::int64_t>(last.bytes.size()));
  });
}

std::span<const std::byte> ControlMessages::receive(int peer, std::size_t bytes) {
  auto message = std::make_unique<Message>();
  message->peer = peer;
  message->bytes.resize(bytes);
  messages_.push_back(std::move(message));
  Message& last = *messages_.back();
  last.id = guarded([&] {
    return state_.group->receive(peer, Lane::control, last.bytes.data(), static_cast<std::int64_t>(bytes));
  });
  complete(last, false);
  return last.bytes;
}

void ControlMessages::finish() {
  for (const auto& message : messages_) {
    if (!message->complete) complete(*message, true);
  }
}

void ControlMessages::complete(Message& message, bool sending) {
  WaitReason reason{.operation = operation_};
  reason.what = [&] {
    return fmt::format("a control message {} rank {}", sending ? "to" : "from", message.peer);
  };
  reason.peer = message.peer;
  reason.peers = [&] { return not_here_(message.peer); };
  wait_until(state_, reason, [&] { return guarded([&] { return state_.group->test(message.id); }); });
  message.complete = true;
}

}  // namespace partita::runtime
