// Lines and batches as calls of a device's library, which knows one loop over a batch.
#pragma once

#include <optional>
#include <vector>

#include "device/device_transforms.hpp"
#include "execute/works/transform_passes.hpp"

namespace partita::execution {

/// The same transform at several places: elements from where the nest begins, on either side.
struct FftCalls {
  struct At {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  devices::DeviceFft fft;
  std::vector<At> calls;
};

/// Without loops of one iteration, the longest steps (of the result) first, and what can be one loop merged.
std::vector<kernels::FftwLoop> merged(std::vector<kernels::FftwLoop> loops);

/// Complex transforms along up to three lines, or real ones with the halved line last. Nothing where the
/// lines are not nested in memory, or it would be many small calls.
std::optional<FftCalls> fft_calls(const TransformNest& nest);

}  // namespace partita::execution
