#include "collectives/point_to_point.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "runtime/board/peer_watch.hpp"
#include "runtime/board/wait.hpp"
#include "runtime/groups/kept_until_exit.hpp"

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

std::string content_text(const MessageHeader& header) {
  const auto dtype = static_cast<Dtype>(header.dtype);
  return fmt::format("{} elements of {}", header.bytes / size_of(dtype), name(dtype));
}

/// What a receive waits for, for errors.
using Awaited = std::function<std::string()>;

using Kind = runtime::WaitReason::Kind;

/// Receives into memory that stays until the process ends if an exception comes first. `look`: at what makes
/// the wait a hopeless one.
void receive_bytes(ContextState& context, int from, const std::shared_ptr<void>& memory, void* to,
                   std::int64_t bytes, const Awaited& what, Kind kind,
                   const std::function<void()>& look = {}) {
  const runtime::MessageId message = context.group->receive(from, runtime::Lane::point_to_point, to, bytes);
  const runtime::WaitReason reason{.operation = "receive", .what = what, .peer = from, .kind = kind};
  try {
    runtime::wait_until(context, reason, [&] {
      const bool is_here = arrived(context, message);
      if (!is_here && look) look();
      return is_here;
    });
  } catch (...) {
    if (memory) runtime::keep_until_exit(memory);
    throw;
  }
}

MessageHeader next_header(ContextState& context, int from, const Awaited& what) {
  const auto header = std::make_shared<MessageHeader>();
  runtime::AwayWatch watch(context, from);
  // What follows the header may take long, also if the sender has continued with other work.
  receive_bytes(context, from, header, header.get(), sizeof(MessageHeader), what, Kind::message, [&] {
    if (const auto found = watch.look("receive")) runtime::give_up_of(context, "receive", *found);
  });
  return *header;
}

UnexpectedMessage rest_of_message(ContextState& context, int from, const MessageHeader& header,
                                  const Awaited& what) {
  if (header.bytes == 0) return {header, {}};
  const auto content = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(header.bytes));
  receive_bytes(context, from, content, content->data(), header.bytes, what, Kind::content);
  return {header, std::move(*content)};
}

void check_fits(const MessageHeader& come, const MessageHeader& wanted, int from) {
  check(come.bytes == wanted.bytes && come.dtype == wanted.dtype,
        "receive: the message of rank {} with tag {} has {}, but {} are expected", from, wanted.tag,
        content_text(come), content_text(wanted));
}

/// "a message of rank 1 with tag 5; not asked for are tag 3 (12 elements of f32), tag 4 (...)".
std::string awaited_text(int from, std::int64_t tag, const std::deque<UnexpectedMessage>& others) {
  constexpr std::size_t most = 8;
  std::string text = fmt::format("a message of rank {} with tag {}", from, tag);
  if (others.empty()) return text + "; no other message from it has arrived";
  text += "; other messages from it that have arrived: ";
  for (std::size_t i = 0; i < std::min(others.size(), most); ++i) {
    const MessageHeader& header = others[i].header;
    text += fmt::format("{}tag {} ({})", i == 0 ? "" : ", ", header.tag, content_text(header));
  }
  return others.size() > most ? text + fmt::format(" and {} more", others.size() - most) : text;
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

// What the receiver takes from others meanwhile does not matter: it is in no collective call then.
void PendingSend::finish() {
  const auto what = [this] {
    return fmt::format(
        "the receipt of a message with tag {} of {} by rank {}; ranks that send to each other call "
        "send_receive",
        header_->tag, content_text(*header_), to_);
  };
  const runtime::WaitReason reason{
      .operation = "send", .what = what, .peer = to_, .kind = runtime::WaitReason::Kind::message};
  runtime::AwayWatch watch(context_, to_);
  for (runtime::MessageId* message : {&first_, &second_}) {
    if (*message >= 0) {
      runtime::wait_until(context_, reason, [&] {
        if (arrived(context_, *message)) return true;
        if (const auto found = watch.look("send")) runtime::give_up_of(context_, "send", *found);
        return false;
      });
    }
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
  const Awaited what = [&] { return awaited_text(from, wanted.tag, waiting); };
  for (;;) {
    const MessageHeader header = next_header(context, from, what);
    const bool asked_for = header.tag == wanted.tag;
    if (asked_for && header.bytes == wanted.bytes && header.dtype == wanted.dtype) {
      if (header.bytes > 0) receive_bytes(context, from, keep, content, header.bytes, what, Kind::content);
      return;
    }
    UnexpectedMessage message = rest_of_message(context, from, header, what);
    if (asked_for) check_fits(message.header, wanted, from);
    waiting.push_back(std::move(message));
  }
}

}  // namespace partita::collective
