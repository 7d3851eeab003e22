// Where a program's own kernels run, concurrently with the library's: on the host at once, or in the
// order of a stream of its device.
#pragma once

#include <functional>
#include <memory>
#include <partita/context.hpp>
#include <utility>

namespace on_device {

/// Where a rank's own work is enqueued. A value.
struct Queue {
  partita::Device device = partita::Device::cpu();
  partita::Stream stream = {};  ///< of the device

  /// The device of a context and the context's own stream, in which calls of the library that are given it
  /// come before and after.
  static Queue of(const partita::Context& context) { return {context.device(), context.stream()}; }
};

/// Does a task when the stream comes to it.
using Put = std::function<void(partita::Stream stream, std::function<void()> task)>;

/// A further stream that takes tasks, as long as it is held.
using MakeStream = std::function<std::shared_ptr<const partita::Stream>()>;

/// From here on memory of devices is the host's and streams take tasks: the devices of tests. To be called
/// before the first launch.
void compute_on_host(Put put, MakeStream make_stream);
/// What was given; empty: devices are CUDA's.
const Put& host_put();
std::shared_ptr<const partita::Stream> make_host_stream();

/// The device is that of the calling thread from here on. Throws UnsupportedError where this build has no
/// CUDA.
void use(const partita::Device& device);
/// Throws Error where the last kernel could not be launched.
void check_launch();

/// A kernel in two forms: `host()` does it at once, or in the stream's turn on the devices of tests, so it
/// holds by value what it needs; `cuda(handle)` launches it into the stream of that handle (a cudaStream_t)
/// and returns.
template <class Host, class Cuda>
void launch(const Queue& queue, Host host, Cuda cuda) {
  if (queue.device.kind != partita::Device::Kind::cuda) return host();
  if (host_put()) return host_put()(queue.stream, std::move(host));
  use(queue.device);
  cuda(queue.stream.handle);
  check_launch();
}

}  // namespace on_device
