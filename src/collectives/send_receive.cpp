// From one rank to another.
#include <memory>
#include <partita/collectives.hpp>

#include "array/array_state.hpp"
#include "array/transfer.hpp"
#include "base/check.hpp"
#include "collectives/call.hpp"
#include "collectives/heap_offsets.hpp"
#include "collectives/point_to_point.hpp"
#include "device/device_synchronization.hpp"

namespace partita {
namespace collective {
namespace {

void check_message(const char* operation, const Context& context, const View& view, int peer,
                   const std::optional<Stream>& stream) {
  context.state()->require_usable(operation);
  check_space(*context.state(), operation, {&view, 1}, view.space, stream);
  check(peer >= 0 && peer < context.size(), "{}: rank {} is not one of the {} ranks", operation, peer,
        context.size());
  check(view.strides.size() == view.extents.size(), "{}: a view of {} extents but {} strides", operation,
        view.extents.size(), view.strides.size());
  const std::int64_t elements = volume(view.extents);  // no extent is negative
  check(view.data != nullptr || elements == 0, "{}: the view is a null pointer", operation);
}

MessageHeader envelope_of(const View& view, int tag) {
  return {tag, arrays::bytes_of(view), static_cast<std::int64_t>(view.dtype)};
}

using Bytes = std::vector<std::byte>;

View on_host(Bytes& bytes, const View& like) {
  return arrays::dense_at(bytes.data(), like, MemorySpace::host);
}

/// From device memory after what the stream has been given so far.
std::shared_ptr<Bytes> packed(ContextState& context, const View& view, const std::optional<Stream>& stream) {
  auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(arrays::bytes_of(view)));
  if (view.space == MemorySpace::device) devices::finish_device(context, "send", stream);
  arrays::copy_view(context, view, on_host(*bytes, view));
  return bytes;
}

bool leaves_in_place(const View& view) {
  return view.space == MemorySpace::host && arrays::lies_dense(view);
}

/// Messages up to this size are copied, and the sender does not wait for the receiver.
constexpr std::int64_t copied_bytes = 16 << 10;

/// What is still to be waited for, or nothing.
std::unique_ptr<PendingSend> post(ContextState& context, const View& view, int peer, int tag,
                                  const std::optional<Stream>& stream) {
  const MessageHeader header = envelope_of(view, tag);
  if (peer == context.rank()) {
    UnexpectedQueue::of(context).put(peer, {header, *packed(context, view, stream)});
    return nullptr;
  }
  const bool is_small = header.bytes <= copied_bytes;
  if (leaves_in_place(view) && !is_small)
    return std::make_unique<PendingSend>(context, peer, header, view.data);
  const auto bytes = packed(context, view, stream);
  auto pending = std::make_unique<PendingSend>(context, peer, header, bytes->data(), bytes);
  UnexpectedQueue::of(context).keep(std::move(pending));  // in any case a copy
  return nullptr;
}

/// Into device memory after what the stream has been given so far; there when it returns.
void take(ContextState& context, const View& view, int peer, int tag, const std::optional<Stream>& stream) {
  const MessageHeader header = envelope_of(view, tag);
  UnexpectedQueue& box = UnexpectedQueue::of(context);
  if (leaves_in_place(view)) return box.receive(context, peer, header, static_cast<std::byte*>(view.data));
  const auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(header.bytes));
  box.receive(context, peer, header, bytes->data(), bytes);
  if (view.space == MemorySpace::device) devices::finish_device(context, "receive", stream);
  arrays::copy_view(context, on_host(*bytes, view), view);
}

}  // namespace
}  // namespace collective

void send(const Context& context, const View& view, int peer, int tag, std::optional<Stream> stream) {
  collective::check_message("send", context, view, peer, stream);
  if (const auto pending = collective::post(*context.state(), view, peer, tag, stream)) pending->finish();
}

void receive(const Context& context, const View& view, int peer, int tag, std::optional<Stream> stream) {
  collective::check_message("receive", context, view, peer, stream);
  arrays::check_written("receive", view, context.rank());
  collective::take(*context.state(), view, peer, tag, stream);
}

void send_receive(const Context& context, const View& sent, int to, const View& received, int from, int tag,
                  std::optional<Stream> stream) {
  collective::check_message("send_receive", context, sent, to, stream);
  collective::check_message("send_receive", context, received, from, stream);
  arrays::check_written("send_receive", received, context.rank());
  collective::check_apart("send_receive", sent, received);
  const auto pending = collective::post(*context.state(), sent, to, tag, stream);
  try {
    collective::take(*context.state(), received, from, tag, stream);
  } catch (const ArgumentError&) {  // what is sent is still the caller's memory
    if (pending) pending->finish();
    throw;
  }
  if (pending) pending->finish();
}

}  // namespace partita
