// Streams of fake devices that are held up.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "support/fakes/fake_device.hpp"

namespace partita::testing {

/// Holds up a stream of a fake device until it is opened or destroyed.
class Gate {
 public:
  explicit Gate(Stream stream) {
    put_into_fake_stream(stream, [open = open_] {
      while (!*open) std::this_thread::yield();
    });
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { *open_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace partita::testing
