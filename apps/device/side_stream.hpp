// A second stream of a device, for work that is concurrent with the first.
#pragma once

#include <memory>

#include "device/queue.hpp"

namespace on_device {

/// A stream next to a queue's. If both have work, its own runs first: what is waited for elsewhere belongs
/// here. On the CPU it is the same queue.
class SideStream {
 public:
  explicit SideStream(const Queue& beside);

  const Queue& queue() const { return queue_; }
  void fork() const;  ///< what it is given from here on comes behind all that the other was given so far
  void join() const;  ///< and the other way round

 private:
  void order(const Queue& first, const Queue& then, void* event) const;

  Queue beside_, queue_;
  std::shared_ptr<void> stream_, forked_, joined_;
};

}  // namespace on_device
