// Streams for the work of a context, and waiting for its completion.
#pragma once

#include <functional>
#include <optional>
#include <partita/stream.hpp>
#include <string_view>
#include <vector>

namespace partita::devices {

struct DeviceRuntime;

/// `ranks` without those that have left the context after all that this rank has executed, and of whose
/// signals none is missing: they hold up nothing. Any thread.
std::vector<int> less_those_that_left(const DeviceRuntime& state, std::vector<int> ranks);

/// The other ranks of this node by whose devices this rank's work may be held up.
/// Of a wait for the device: the ranks that have not come to what the device has been given, without which it
/// does not end, as far as the host sees.
std::vector<int> late_for_the_device(const DeviceRuntime& state);
std::vector<int> others_of_the_node(const DeviceRuntime& state);

/// `wanted`, or the context's own stream where none is given.
Stream stream_or_own(const DeviceRuntime& state, const std::optional<Stream>& wanted);

/// The stream to put work into: `wanted`, or the context's own where none is given. What it gets from here on
/// comes after all that the context has put into other streams; but a stream that is being captured stands
/// for itself. The calling thread drives the device from here on.
Stream begin_device_work(DeviceRuntime& state, const std::optional<Stream>& wanted = {});

/// All has been put into `stream`, which is what `begin_device_work` gave. The caller may destroy a stream of
/// its own at any time afterwards, so nothing here remembers it.
void end_device_work(DeviceRuntime& state, Stream stream);

/// False in a context without a device, too.
bool own_stream_is_captured(const DeviceRuntime& state);

/// Throws UnsupportedError where the context's own stream is being captured, for which `what` waits. What
/// puts work into it and waits asks this first: the work would stay in the graph. Nothing to do in a context
/// without a device.
void require_no_capture(const DeviceRuntime& state, std::string_view operation, std::string_view what = "it");

/// Throws UnsupportedError where the context's own stream is being captured, and work is to go into another
/// one, which is not: it comes after what the own one has been given, and would become part of the graph.
void require_apart_from_capture(const DeviceRuntime& state, std::string_view operation,
                                const std::optional<Stream>& wanted);

/// Waits until the device has completed all work of this context and, if `stream` is given, all work on
/// `stream`. Blocking within the deadline; returns at once in a context without a device. An exception has
/// failed the context: DisagreementError if ranks of the node execute different operations, also if the
/// streams have consumed the signals of another execution. Exception: UnsupportedError, thrown before any
/// wait if a stream is being captured.
void finish_device(DeviceRuntime& state, std::string_view operation,
                   const std::optional<Stream>& stream = {});

/// Waits as `finish_device` does if anything has been `dropped` that streams may still use. False, and no
/// wait: the context's own stream is being captured, so it has to stay. Whether other ranks have dropped it,
/// too, may depend on a garbage collector: calls that release on the way go on.
bool finish_for_release(DeviceRuntime& state, std::string_view operation, bool dropped);

/// As above, for work on the context's own stream that does not wait for peers (after `finish_device`),
/// before the memory that it uses is freed: if the wait fails, it waits for the work regardless. A lost
/// device does no more work.
void finish_device_before_memory_goes(DeviceRuntime& state, std::string_view operation);

/// Throws UnsupportedError where a stream that is given is being captured.
void require_not_captured(const DeviceRuntime& state, std::string_view operation,
                          const std::optional<Stream>& stream);

/// What the context puts into its streams from here on comes after what `stream` has been given, if one is
/// given. UnsupportedError: it is being captured.
void follow(DeviceRuntime& state, std::string_view operation, const std::optional<Stream>& stream);

/// What `reader` is given from here on comes after all that the context has put into streams. Nothing to do
/// in a context without a device. UnsupportedError: that stream or the context's own is being captured.
void let_follow(DeviceRuntime& state, std::string_view operation, Stream reader);

/// Waits before memory is freed that streams may still use: until `done`, or until the context has failed, at
/// the latest at the deadline. Peers may have ended; they are not monitored here.
void await_streams(DeviceRuntime& state, std::string_view operation,
                   const std::function<bool()>& done) noexcept;

}  // namespace partita::devices
