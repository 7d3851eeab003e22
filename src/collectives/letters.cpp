#include "collectives/letters.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/check.hpp"
#include "runtime/keeper.hpp"
#include "runtime/wait.hpp"

namespace partita::collective {
namespace {

bool arrived(ContextState& context, MessageId message) {
  try {
    return context.group->test(message);
  } catch (const std::exception& error) {
    context.fail(error.what());  // the peer's letters and ours no longer meet
    throw;
  }
}

void wait(ContextState& context, MessageId message, int peer, const char* operation, const char* what) {
  const WaitReason reason{operation, [&] { return fmt::format("{} rank {}", what, peer); }, peer, {}};
  wait_until(context, reason, [&] { return arrived(context, message); });
}

/// Receives into memory that stays until the process ends if an exception comes first.
void receive_bytes(ContextState& context, int from, const std::shared_ptr<void>& memory, void* to,
                   std::int64_t bytes) {
  const MessageId message = context.group->receive(from, Lane::letters, to, bytes);
  try {
    wait(context, message, from, "receive", "a letter of");
  } catch (...) {
    if (memory) keep_until_exit(memory);
    throw;
  }
}

Envelope next_envelope(ContextState& context, int from) {
  const auto envelope = std::make_shared<Envelope>();
  receive_bytes(context, from, envelope, envelope.get(), sizeof(Envelope));
  return *envelope;
}

Letter rest_of_letter(ContextState& context, int from, const Envelope& envelope) {
  if (envelope.bytes == 0) return {envelope, {}};
  const auto content = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(envelope.bytes));
  receive_bytes(context, from, content, content->data(), envelope.bytes);
  return {envelope, std::move(*content)};
}

void check_fits(const Envelope& come, const Envelope& wanted, int from) {
  const auto text = [](const Envelope& envelope) {
    const auto dtype = static_cast<Dtype>(envelope.dtype);
    return fmt::format("{} elements of {}", envelope.bytes / size_of(dtype), name(dtype));
  };
  check(come.bytes == wanted.bytes && come.dtype == wanted.dtype,
        "receive: the letter of rank {} with tag {} has {}, but {} are expected", from, wanted.tag,
        text(come), text(wanted));
}

}  // namespace

Posting::Posting(ContextState& context, int to, Envelope envelope, const void* content,
                 std::shared_ptr<void> keep)
    : context_(context), to_(to), envelope_(std::make_shared<Envelope>(envelope)), keep_(std::move(keep)) {
  first_ = context.group->send(to, Lane::letters, envelope_.get(), sizeof(Envelope));
  if (envelope.bytes > 0) second_ = context.group->send(to, Lane::letters, content, envelope.bytes);
}

Posting::~Posting() {
  if (first_ < 0 && second_ < 0) return;
  keep_until_exit(envelope_);
  if (keep_) keep_until_exit(keep_);
}

void Posting::finish() {
  for (MessageId* message : {&first_, &second_}) {
    if (*message >= 0) wait(context_, *message, to_, "send", "the receipt of a letter by");
    *message = -1;
  }
}

bool Posting::left() {
  if (!context_.group) return false;  // a failed context in its end: the memory stays
  for (MessageId* message : {&first_, &second_}) {
    if (*message >= 0 && !arrived(context_, *message)) return false;
    *message = -1;
  }
  return true;
}

LetterBox::~LetterBox() {
  try {
    forget_those_that_left();
  } catch (...) {
    // What has not left keeps its memory.
  }
}

void LetterBox::keep(std::unique_ptr<Posting> posting) {
  on_their_way_.push_back(std::move(posting));
  forget_those_that_left();
}

void LetterBox::forget_those_that_left() {
  for (auto& posting : on_their_way_) {  // asking may throw, which must not leave half a list behind
    if (posting && posting->left()) posting.reset();
  }
  std::erase(on_their_way_, nullptr);
}

LetterBox& LetterBox::of(ContextState& context) {
  if (!context.letters) context.letters = std::make_shared<LetterBox>();
  return *static_cast<LetterBox*>(context.letters.get());
}

void LetterBox::receive(ContextState& context, int from, const Envelope& wanted, std::byte* content,
                        const std::shared_ptr<void>& keep) {
  std::deque<Letter>& waiting = letters_[from];
  const auto found = std::find_if(waiting.begin(), waiting.end(),
                                  [&](const Letter& letter) { return letter.envelope.tag == wanted.tag; });
  if (found != waiting.end()) {
    const Letter letter = std::move(*found);
    waiting.erase(found);
    check_fits(letter.envelope, wanted, from);
    if (wanted.bytes > 0) std::memcpy(content, letter.content.data(), letter.content.size());
    return;
  }
  check(from != context.rank(), "receive: there is no letter with tag {} of this rank to itself", wanted.tag);
  for (;;) {
    const Envelope envelope = next_envelope(context, from);
    const bool asked_for = envelope.tag == wanted.tag;
    if (asked_for && envelope.bytes == wanted.bytes && envelope.dtype == wanted.dtype) {
      if (envelope.bytes > 0) receive_bytes(context, from, keep, content, envelope.bytes);
      return;
    }
    Letter letter = rest_of_letter(context, from, envelope);
    if (asked_for) check_fits(letter.envelope, wanted, from);
    waiting.push_back(std::move(letter));
  }
}

}  // namespace partita::collective
