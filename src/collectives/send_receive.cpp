// From one rank to another.
#include <memory>
#include <partita/collectives.hpp>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/call.hpp"
#include "collectives/letters.hpp"

namespace partita {
namespace collective {
namespace {

void check_letter(const char* operation, const Context& context, const View& view, int peer, Stream stream) {
  context.state()->require_usable(operation);
  refuse_devices(operation, {&view, 1}, stream);
  check(peer >= 0 && peer < context.size(), "{}: rank {} is not one of the {} ranks", operation, peer,
        context.size());
  check(view.strides.size() == view.extents.size(), "{}: a view of {} extents but {} strides", operation,
        view.extents.size(), view.strides.size());
  check(view.data != nullptr || volume(view.extents) == 0, "{}: the view is a null pointer", operation);
}

Envelope envelope_of(const View& view, int tag) {
  return {tag, bytes_of(view), static_cast<std::int64_t>(view.dtype)};
}

using Bytes = std::vector<std::byte>;

View dense_at(void* memory, const View& like) {
  return View::dense(memory, like.dtype, like.extents);
}

std::shared_ptr<Bytes> packed(const View& view) {
  auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(bytes_of(view)));
  copy(simplify(nest_over(view, dense_at(bytes->data(), view))), view.data, bytes->data(), StoreHint::cache);
  return bytes;
}

/// Up to so many bytes are copied, and nobody waits for the receiver.
constexpr std::int64_t copied_bytes = 16 << 10;

/// What is still to be waited for, or nothing.
std::unique_ptr<Posting> post(ContextState& context, const View& view, int peer, int tag) {
  const Envelope envelope = envelope_of(view, tag);
  if (peer == context.rank()) {
    LetterBox::of(context).put(peer, {envelope, *packed(view)});
    return nullptr;
  }
  const bool is_small = envelope.bytes <= copied_bytes;
  if (lies_dense(view) && !is_small) return std::make_unique<Posting>(context, peer, envelope, view.data);
  const auto bytes = packed(view);
  auto posting = std::make_unique<Posting>(context, peer, envelope, bytes->data(), bytes);
  LetterBox::of(context).keep(std::move(posting));  // in any case a copy
  return nullptr;
}

void take(ContextState& context, const View& view, int peer, int tag) {
  const Envelope envelope = envelope_of(view, tag);
  LetterBox& box = LetterBox::of(context);
  if (lies_dense(view)) return box.receive(context, peer, envelope, static_cast<std::byte*>(view.data));
  const auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(envelope.bytes));
  box.receive(context, peer, envelope, bytes->data(), bytes);
  copy(simplify(nest_over(dense_at(bytes->data(), view), view)), bytes->data(), view.data, StoreHint::cache);
}

}  // namespace
}  // namespace collective

void send(const Context& context, const View& view, int peer, int tag, Stream stream) {
  collective::check_letter("send", context, view, peer, stream);
  if (const auto posting = collective::post(*context.state(), view, peer, tag)) posting->finish();
}

void receive(const Context& context, const View& view, int peer, int tag, Stream stream) {
  collective::check_letter("receive", context, view, peer, stream);
  collective::take(*context.state(), view, peer, tag);
}

void send_receive(const Context& context, const View& sent, int to, const View& received, int from, int tag,
                  Stream stream) {
  collective::check_letter("send_receive", context, sent, to, stream);
  collective::check_letter("send_receive", context, received, from, stream);
  const auto posting = collective::post(*context.state(), sent, to, tag);
  try {
    collective::take(*context.state(), received, from, tag);
  } catch (const ArgumentError&) {  // what is sent is still the caller's memory
    if (posting) posting->finish();
    throw;
  }
  if (posting) posting->finish();
}

}  // namespace partita
