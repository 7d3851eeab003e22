// How fast GPUs reach each other.
#pragma once

#include <string>
#include <vector>

namespace partita::tools {

struct Links {
  /// Bytes a second from each device to each other one, one pair at a time; 0 to itself.
  std::vector<std::vector<double>> speed;
  std::string problem;  ///< why nothing could be measured; empty: nothing was wrong
};

/// Copies of 64 MiB by copy engine, pushed by their source, the best of a few. Some tenths of a second a
/// device. Nothing in a build without CUDA.
Links measure_links(int devices);

}  // namespace partita::tools
