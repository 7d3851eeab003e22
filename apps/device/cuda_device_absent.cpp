#include <partita/error.hpp>

#include "device/queue.hpp"

namespace on_device {

void use(const partita::Device& /*device*/) {
  throw partita::UnsupportedError("this build has no CUDA");
}

void check_launch() {}

}  // namespace on_device
