// The control groups of this process, of versions 1 and 2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

struct ControlGroup {
  bool unified = false;  ///< version 2
  std::string mount;     ///< where its tree is mounted
  std::string path;      ///< below that; empty: the mount itself

  /// The one that accounts for "memory", "cpu", ...; `root` is put before /proc and /sys (for tests).
  /// Nothing: there is none, or its tree is not mounted.
  static std::optional<ControlGroup> of_this_process(std::string_view controller, const std::string& root);
  /// The paths of this group and of those above it, for a limit of any of them holds.
  std::vector<std::string> levels() const;
};

}  // namespace partita
