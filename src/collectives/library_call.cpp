#include "collectives/library_call.hpp"

#include <cstdlib>

#include "array/transfer.hpp"
#include "base/check.hpp"
#include "device/finish.hpp"

namespace partita::collective {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

bool has_gaps(const View& view) {
  return view.data != nullptr && volume(view.extents) > 0 && !lies_dense(view);
}

}  // namespace

LibraryCall::LibraryCall(ContextState& context, std::string operation, ByLibrary work)
    : context_(context), operation_(std::move(operation)), work_(std::move(work)) {}

// The last view is written, the others are read.
void LibraryCall::run(std::span<const View> views, Stream stream) {
  context_.require_usable(operation_);
  check<UnsupportedError>(
      !context_.device->captures(stream_or_own(context_, stream)),
      "{}: {} does it, and that is not captured into graphs; PARTITA_DEVICE_COLLECTIVES=own "
      "has it done by kernels that are",
      operation_, context_.device_group()->name());
  packed_.resize(views.size());
  std::vector<View> dense(views.begin(), views.end());
  stream = begin_device_work(context_, stream);
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!has_gaps(views[i])) continue;
    dense[i] = packed(i, views[i]);
    if (i + 1 < views.size()) copy(views[i], dense[i], stream);
  }
  work_(*context_.device_group(), dense, stream);
  if (has_gaps(views.back())) copy(dense.back(), views.back(), stream);
  end_device_work(context_, stream);
  context_.watchdog->note(operation_);
}

View LibraryCall::packed(std::size_t number, const View& view) {
  DeviceMemory& memory = packed_[number];
  if (memory.bytes() < bytes_of(view)) {
    memory.reset();
    memory = DeviceMemory(*context_.device, bytes_of(view));
  }
  return dense_at(memory.data(), view, MemorySpace::device);
}

void LibraryCall::copy(const View& from, const View& to, Stream stream) {
  context_.device->copy(simplify(nest_over(from, to)), from.data, to.data, stream, true);
}

DeviceGroup* library_of(ContextState& context) {
  if (!context.device_group_asked) {
    context.device_group_asked = true;
    context.adopt(context.device->make_group(context));
  }
  return context.device_group();
}

std::string_view wanted_way() {
  const char* const text = std::getenv("PARTITA_DEVICE_COLLECTIVES");
  return text == nullptr ? "" : text;
}

void check_wanted_way() {
  const std::string_view wanted = wanted_way();
  check(wanted.empty() || wanted == "own" || wanted == "library",
        "PARTITA_DEVICE_COLLECTIVES is \"{}\"; it must be own or library", wanted);
}

// Ours pushes straight into the place where the data belongs; what has to be joined, or has to lie in scratch
// before, is the library's where it is large.
bool prefers_library(std::string_view operation, std::int64_t bytes, bool in_place) {
  const std::string_view wanted = wanted_way();
  if (!wanted.empty()) return wanted == "library";
  const bool only_moves = operation == "all_gather" || operation == "all_to_all";
  return bytes > mebibyte && !(only_moves && in_place);
}

}  // namespace partita::collective
