#include "collectives/point_to_point.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/check.hpp"
#include "runtime/keeper.hpp"
#include "runtime/wait.hpp"

namespace partita::collective {
namespace {

bool arrived(ContextState& context, runtime::MessageId message) {
  try {
    return context.group->test(message);
  } catch (const std::exception& error) {
    context.fail(error.what());  // the peer's messages and ours no longer meet
    throw;
  }
}

void wait(ContextState& context, runtime::MessageId message, int peer, const char* operation,
          const char* what) {
  const runtime::WaitReason reason{
      operation, [&] { return fmt::format("{} rank {}", what, peer); }, peer, {}};
  runtime::wait_until(context, reason, [&] { return arrived(context, message); });
}

/// Receives into memory that stays until the process ends if an exception comes first.
void receive_bytes(ContextState& context, int from, const std::shared_ptr<void>& memory, void* to,
                   std::int64_t bytes) {
  const runtime::MessageId message = context.group->receive(from, runtime::Lane::point_to_point, to, bytes);
  try {
    wait(context, message, from, "receive", "a message of");
  } catch (...) {
    if (memory) runtime::keep_until_exit(memory);
    throw;
  }
}

MessageHeader next_header(ContextState& context, int from) {
  const auto header = std::make_shared<MessageHeader>();
  receive_bytes(context, from, header, header.get(), sizeof(MessageHeader));
  return *header;
}

UnexpectedMessage rest_of_message(ContextState& context, int from, const MessageHeader& header) {
  if (header.bytes == 0) return {header, {}};
  const auto content = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(header.bytes));
  receive_bytes(context, from, content, content->data(), header.bytes);
  return {header, std::move(*content)};
}

void check_fits(const MessageHeader& come, const MessageHeader& wanted, int from) {
  const auto text = [](const MessageHeader& header) {
    const auto dtype = static_cast<Dtype>(header.dtype);
    return fmt::format("{} elements of {}", header.bytes / size_of(dtype), name(dtype));
  };
  check(come.bytes == wanted.bytes && come.dtype == wanted.dtype,
        "receive: the message of rank {} with tag {} has {}, but {} are expected", from, wanted.tag,
        text(come), text(wanted));
}

}  // namespace

PendingSend::PendingSend(ContextState& context, int to, MessageHeader header, const void* content,
                         std::shared_ptr<void> keep)
    : context_(context), to_(to), header_(std::make_shared<MessageHeader>(header)), keep_(std::move(keep)) {
  first_ = context.group->send(to, runtime::Lane::point_to_point, header_.get(), sizeof(MessageHeader));
  if (header.bytes > 0)
    second_ = context.group->send(to, runtime::Lane::point_to_point, content, header.bytes);
}

PendingSend::~PendingSend() {
  if (first_ < 0 && second_ < 0) return;
  runtime::keep_until_exit(header_);
  if (keep_) runtime::keep_until_exit(keep_);
}

void PendingSend::finish() {
  for (runtime::MessageId* message : {&first_, &second_}) {
    if (*message >= 0) wait(context_, *message, to_, "send", "the receipt of a message by");
    *message = -1;
  }
}

bool PendingSend::left() {
  if (!context_.group) return false;  // a failed context in its end: the memory stays
  for (runtime::MessageId* message : {&first_, &second_}) {
    if (*message >= 0 && !arrived(context_, *message)) return false;
    *message = -1;
  }
  return true;
}

UnexpectedQueue::~UnexpectedQueue() {
  try {
    forget_those_that_left();
  } catch (...) {
    // What has not left keeps its memory.
  }
}

void UnexpectedQueue::keep(std::unique_ptr<PendingSend> pending) {
  on_their_way_.push_back(std::move(pending));
  forget_those_that_left();
}

void UnexpectedQueue::forget_those_that_left() {
  for (auto& pending : on_their_way_) {  // asking may throw, which must not leave half a list behind
    if (pending && pending->left()) pending.reset();
  }
  std::erase(on_their_way_, nullptr);
}

UnexpectedQueue& UnexpectedQueue::of(ContextState& context) {
  if (!context.unexpected) context.unexpected = std::make_shared<UnexpectedQueue>();
  return *static_cast<UnexpectedQueue*>(context.unexpected.get());
}

void UnexpectedQueue::receive(ContextState& context, int from, const MessageHeader& wanted,
                              std::byte* content, const std::shared_ptr<void>& keep) {
  std::deque<UnexpectedMessage>& waiting = messages_[from];
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const UnexpectedMessage& message) {
    return message.header.tag == wanted.tag;
  });
  if (found != waiting.end()) {
    const UnexpectedMessage message = std::move(*found);
    waiting.erase(found);
    check_fits(message.header, wanted, from);
    if (wanted.bytes > 0) std::memcpy(content, message.content.data(), message.content.size());
    return;
  }
  check(from != context.rank(), "receive: there is no message with tag {} of this rank to itself",
        wanted.tag);
  for (;;) {
    const MessageHeader header = next_header(context, from);
    const bool asked_for = header.tag == wanted.tag;
    if (asked_for && header.bytes == wanted.bytes && header.dtype == wanted.dtype) {
      if (header.bytes > 0) receive_bytes(context, from, keep, content, header.bytes);
      return;
    }
    UnexpectedMessage message = rest_of_message(context, from, header);
    if (asked_for) check_fits(message.header, wanted, from);
    waiting.push_back(std::move(message));
  }
}

}  // namespace partita::collective
