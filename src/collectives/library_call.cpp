#include "collectives/library_call.hpp"

#include <cstdlib>

#include "base/check.hpp"
#include "base/units.hpp"
#include "device/stream_work.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/announcement.hpp"
#include "runtime/checks/greetings.hpp"

namespace partita::collective {
namespace {}  // namespace

LibraryCall::LibraryCall(ContextState& context, const Call& call)
    : context_(context),
      operation_(call.operation),
      hash_(hash_of(call, "library")),
      work_(call.by_library),
      dense_(context, operation_),
      ahead_(devices::RunAhead::of(context)) {
  context.notes->keep(hash_, call.operation, call.facts);
}

void LibraryCall::refuse_capture() const {
  throw UnsupportedError(
      fmt::format("{}: {} executes this call, which cannot be captured into graphs; set "
                  "PARTITA_DEVICE_COLLECTIVES=own to use "
                  "done by plans that are",
                  operation_, context_.device_group()->name()));
}

void LibraryCall::run(std::span<const View> views, Stream stream) {
  context_.require_usable(operation_);
  if (context_.device->captures(devices::stream_or_own(context_, stream))) refuse_capture();
  runtime::check_or_tell_all(context_, operation_, [&] { dense_.prepare(views); });
  devices::put_into_stream(context_, *ahead_, operation_, stream, [&](Stream used, bool) {
    const runtime::Executed execution =
        runtime::announce(context_, hash_, operation_, false, {.plan = hash_});
    if (context_.device_topology.node_count() > 1) {
      const int ranks = context_.size();
      const int before = (context_.rank() + ranks - 1) % ranks;
      const int after = (context_.rank() + 1) % ranks;
      runtime::greetings_of(context_).greet(execution, {&before, 1}, {&after, 1}, false, operation_);
    }
    work_(*context_.device_group(), dense_.pack(views, used), used);
    dense_.unpack(views, used, false);
  });
}

// Ours pushes straight into the place where the data belongs; what has to be joined, or has to lie in scratch
// before, is the library's where it is large. Between nodes ours would go through the library all the same.
bool prefers_library(const ContextState& context, std::string_view operation, std::int64_t bytes,
                     bool in_place) {
  const DeviceCollectives wanted = context.options.device_collectives;
  if (wanted != DeviceCollectives::automatic) return wanted == DeviceCollectives::library;
  if (context.device_topology.node_count() > 1) return true;
  const bool only_moves = operation == "all_gather" || operation == "all_to_all";
  const bool goes_to_all = operation == "all_reduce" || operation == "broadcast";
  const std::int64_t given = goes_to_all ? bytes * (context.size() - 1) : bytes;
  return given > mebibyte && !(only_moves && in_place);
}

}  // namespace partita::collective
