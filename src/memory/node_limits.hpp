// How much memory the node has, and how much of it may still be touched.
#pragma once

#include <cstdint>
#include <string>

namespace partita::memory {

/// What the machine and the control groups (v1 and v2, every level above this process) allow. Past the
/// headroom of a control group there is no error, only SIGKILL.
struct NodeLimits {
  std::int64_t total = 0;      ///< bytes: the memory of the machine, or a group's limit if that is lower
  std::int64_t available = 0;  ///< bytes that may still be touched; file pages that can be dropped count
  std::string bound;           ///< what bounds `available`: "the machine", "the control group /jobs/7"

  /// Read now. `root` is put before /proc and /sys (for tests). Levels that cannot be read bound nothing.
  static NodeLimits read(const std::string& root = "");
};

/// Throws MemoryError unless each of the node's ranks may take so much: all take about as much at once, and
/// the rest of the machine lives too.
void check_headroom(std::int64_t bytes, int node_ranks);

}  // namespace partita::memory
