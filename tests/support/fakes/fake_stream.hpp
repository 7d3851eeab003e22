// Streams of devices without a device, which are threads, and their events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "support/fakes/fake_device.hpp"

namespace partita::testing {

/// From here on this thread's work is for that device.
void drive_fake_device(int index);

/// Until all that streams of the process have been given for the device is done.
void await_fake_device(int index);

class FakeProgress;

/// A stream: a thread that does one thing after the other. As of CUDA's driver, it holds so many launches:
/// one more blocks until there is room, and meanwhile no thread writes to a device past its streams.
class FakeQueue {
 public:
  static constexpr std::size_t most_launches = 1000;

  FakeQueue();
  ~FakeQueue();
  FakeQueue(const FakeQueue&) = delete;
  FakeQueue& operator=(const FakeQueue&) = delete;

  void put(std::function<void()> task);
  bool idle();
  void begin_capture();
  std::shared_ptr<FakeGraph> end_capture();
  std::shared_ptr<FakeGraph> graph();  ///< of the capture that is going on; null: there is none
  /// Called by a task. A queue that ends waits for nothing more.
  void wait(const std::function<bool()>& ready) const;

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
  std::deque<std::function<void()>> tasks_;
  std::shared_ptr<FakeGraph> graph_;
  std::atomic<bool> ending_{false};
  std::shared_ptr<FakeProgress> progress_;
  std::thread thread_;  // last: it uses all others
};

/// What launches that block keep others from.
std::mutex& fake_driver();

/// As of CUDA the handles 0 and 1 are one stream, too, and 2 is the thread's own.
FakeQueue& queue_of(Stream stream);

class FakeEvent final : public devices::DeviceEvent {
 public:
  void record(Stream stream) override;
  bool reached() override;
  void hold(Stream stream) override;

 private:
  std::shared_ptr<std::atomic<bool>> last() const;
  mutable std::mutex mutex_;  // read by a watchdog
  std::shared_ptr<std::atomic<bool>> done_;
};

}  // namespace partita::testing
