// libpartita.so with fake devices in place of a machine's, for the tests of the Python package: they find it
// by LD_LIBRARY_PATH before the real one.
#include <chrono>

#include "support/fakes/fake_device.hpp"

namespace {

[[maybe_unused]] const bool installed = [] {
  partita::testing::install_fake_devices(partita::testing::usual_fake_devices);
  return true;
}();

}  // namespace

/// What the stream is given from here on is late.
extern "C" PARTITA_API void partita_delay_fake_stream(void* stream, int milliseconds) {
  partita::testing::delay_fake_stream(partita::Stream(stream), std::chrono::milliseconds(milliseconds));
}
