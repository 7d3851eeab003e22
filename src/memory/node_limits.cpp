#include "memory/node_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "base/check.hpp"
#include "base/control_group.hpp"

namespace partita::memory {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The names that the two versions of control groups give to the same things.
struct Version {
  const char* limit;
  const char* usage;
  std::vector<std::string> droppable;  // in memory.stat: pages of files, given up under pressure
};
const Version& version(bool unified) {
  static const Version first{
      "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
  static const Version second{"memory.max", "memory.current", {"inactive_file", "active_file"}};
  return unified ? second : first;
}

/// "name value" or "name: value kB" a line.
std::map<std::string, std::int64_t> read_table(const std::string& path) {
  std::map<std::string, std::int64_t> result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t value = 0;
    if (words >> name >> value) result[name] = value;
  }
  return result;
}

/// Empty: the file does not exist, or says "max".
std::optional<std::int64_t> read_number(const std::string& path) {
  std::int64_t value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

void bound_by(NodeLimits& limits, const ControlGroup& group, const std::string& path) {
  const Version& names = version(group.unified);
  const std::string folder = group.mount + path + "/";
  const auto limit = read_number(folder + names.limit);
  const auto usage = read_number(folder + names.usage);
  if (!limit || !usage) return;
  limits.total = std::min(limits.total, *limit);
  const auto statistics = read_table(folder + "memory.stat");
  std::int64_t droppable = 0;
  for (const std::string& name : names.droppable) {
    if (const auto entry = statistics.find(name); entry != statistics.end()) droppable += entry->second;
  }
  const std::int64_t available =
      std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - droppable));
  if (available >= limits.available) return;
  limits.available = available;
  limits.bound = "the control group " + (path.empty() ? "/" : path);
}

}  // namespace

NodeLimits NodeLimits::read(const std::string& root) {
  const auto memory = read_table(root + "/proc/meminfo");
  const auto bytes = [&](const char* name) {
    const auto entry = memory.find(name);
    return entry == memory.end() ? unlimited : entry->second * 1024;
  };
  const std::int64_t physical = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  NodeLimits result{std::min(bytes("MemTotal:"), physical), bytes("MemAvailable:"), "the machine"};
  const auto group = ControlGroup::of_this_process("memory", root);
  if (!group) return result;
  for (const std::string& path : group->levels()) bound_by(result, *group, path);
  return result;
}

void check_headroom(std::int64_t bytes, int node_ranks) {
  const NodeLimits limits = NodeLimits::read();
  const std::int64_t usable = limits.available - limits.available / 32;
  check<MemoryError>(
      bytes <= usable / node_ranks,
      "out of memory: {} bytes requested on each of the {} ranks of the node, {} bytes available "
      "to all of them within the limit of {}",
      bytes, node_ranks, usable, limits.bound);
}

}  // namespace partita::memory
