// How a collective call is carried out: checked, planned together once, and run.
#pragma once

#include <functional>
#include <optional>
#include <partita/context.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <string_view>
#include <vector>

#include "collectives/call_signature.hpp"
#include "collectives/chain.hpp"
#include "device/device_group.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::collective {

/// Puts the work of a call into a stream.
using ByLibrary = std::function<void(devices::DeviceGroup&, std::span<const View>, Stream)>;

/// One call, as this rank makes it.
struct Call {
  std::string_view operation;
  /// What all ranks must have alike. Together they say all that `layouts` and `plan` depend on: they are the
  /// key under which the context keeps the plan.
  std::vector<Fact> facts;
  Dtype dtype = Dtype::f64;
  std::vector<View> views;  ///< by operand; those of ranks that hold nothing are not looked at
  std::int64_t bytes = 0;   ///< of the largest view of any rank
  /// Of the operands. Throws ArgumentError where the facts are no good (no such root, ...).
  std::function<std::vector<Layout>()> layouts;
  std::function<Plan(const Request&)> plan;
  /// Further checks of this rank's own arguments.
  std::function<void()> check = {};
  /// The last view is made 0 or 1 in the end (collectives/normalize_logical.hpp).
  std::optional<Reduction> logical = {};
  /// The last view is written in place where it lies on the heap of devices, at the same place on all ranks.
  bool writes_in_place = false;
  /// The plan is a redistribution from the first layout to the second, whatever else it does in between.
  bool is_redistribution = false;
  /// The same by the vendor's library of collectives, whose views are dense. None: it has no such thing.
  ByLibrary by_library = {};
  /// Whether the library can: the dtype, the reduction.
  std::function<bool(const devices::DeviceGroup&)> offered = [](const devices::DeviceGroup&) { return true; };
  /// The layouts are larger than the views, whose extents `check` knows.
  bool extents_vary = false;
  /// If it is the same another time, so is all of the above; null: that is not known.
  const CallSignature* signature = nullptr;
};

/// Of what all ranks have alike, and of the way in which it is done.
std::uint64_t hash_of(const Call& call, std::string_view way);

/// Views of so many bytes and more are looked for on the heap, in one exchange of all ranks a call.
inline constexpr std::int64_t worth_asking = 256 << 10;

/// Whether the call has been carried out, as an earlier one of the same signature. Otherwise `signature` goes
/// into the Call. As `run`.
bool run_again(const Context& context, CallSignature& signature, std::optional<Stream> stream);

/// Collective. Blocking in host memory; on a device the work is put into the stream.
void run(const Context& context, Call call, std::optional<Stream> stream);

/// Throws ArgumentError.
void check_root(std::string_view operation, int root, int ranks);
void check_reduction(std::string_view operation, Reduction reduction, Dtype dtype);

/// Throws ArgumentError where the two share memory.
void check_apart(std::string_view operation, const View& a, const View& b);
/// Throws ArgumentError where `view` shares memory with `whole` but is not `place`, which has its extents.
void check_same_or_apart(std::string_view operation, const View& view, const View& place, const View& whole);

}  // namespace partita::collective
