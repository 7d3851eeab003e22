#include "device/side_stream.hpp"

#include <future>

#include "device/cuda_streams.hpp"

namespace on_device {

SideStream::SideStream(const Queue& beside) : beside_(beside), queue_(beside) {
  if (beside.device.kind != partita::Device::Kind::cuda) return;
  if (host_put()) {
    const std::shared_ptr<const partita::Stream> made = make_host_stream();
    stream_ = std::const_pointer_cast<partita::Stream>(made);
    queue_.stream = *made;
    return;
  }
  use(beside.device);
  stream_ = cuda::make_stream();
  forked_ = cuda::make_event();
  joined_ = cuda::make_event();
  queue_.stream = partita::Stream(stream_.get());
}

void SideStream::fork() const {
  order(beside_, queue_, forked_.get());
}

void SideStream::join() const {
  order(queue_, beside_, joined_.get());
}

void SideStream::order(const Queue& first, const Queue& then, void* event) const {
  if (!stream_) return;
  if (event != nullptr) {
    use(queue_.device);
    return cuda::order(event, first.stream.handle, then.stream.handle);
  }
  const auto reached = std::make_shared<std::promise<void>>();
  host_put()(first.stream, [reached] { reached->set_value(); });
  host_put()(then.stream, [future = reached->get_future().share()] { future.wait(); });
}

}  // namespace on_device
