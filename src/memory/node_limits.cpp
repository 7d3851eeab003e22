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

namespace partita {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The names that the two versions of control groups give to the same things.
struct Version {
  const char* filesystem;
  const char* limit;
  const char* usage;
  std::vector<std::string> droppable;  // in memory.stat: pages of files, given up under pressure
};
const Version& version(bool unified) {
  static const Version first{"cgroup",
                             "memory.limit_in_bytes",
                             "memory.usage_in_bytes",
                             {"total_inactive_file", "total_active_file"}};
  static const Version second{"cgroup2", "memory.max", "memory.current", {"inactive_file", "active_file"}};
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

/// Nothing: no such file, or "max".
std::optional<std::int64_t> read_number(const std::string& path) {
  std::int64_t value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

bool lists(const std::string& commas, const std::string& name) {
  return ("," + commas + ",").find("," + name + ",") != std::string::npos;
}

/// The control group that accounts for this process's memory: where its folder is mounted, and its path
/// below.
struct Group {
  bool unified = false;
  std::string mount;
  std::string path;
};

/// Lines of /proc/self/cgroup: "4:memory:/path" (v1), "0::/path" (v2). Version 1's controller wins: where
/// both are mounted, memory belongs to the one that has it.
std::optional<Group> find_path(const std::string& root) {
  std::optional<Group> result;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (lists(controllers, "memory")) return Group{false, "", path};
    if (controllers.empty()) result = Group{true, "", path};
  }
  return result;
}

/// Lines of /proc/self/mountinfo: "32 31 0:29 ROOT MOUNT options ... - TYPE source super,options".
bool find_mount(const std::string& root, Group& group) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skip, mounted_root, mount, type, super;
    words >> skip >> skip >> skip >> mounted_root >> mount;
    while (words >> skip && skip != "-") {
    }
    words >> type >> skip >> super;
    if (type != version(group.unified).filesystem) continue;
    if (!group.unified && !lists(super, "memory")) continue;
    // In a container the mount shows only the part of the tree below `mounted_root`.
    if (mounted_root != "/" && group.path.starts_with(mounted_root)) group.path.erase(0, mounted_root.size());
    group.mount = root + mount;
    return true;
  }
  return false;
}

void bound_by(NodeLimits& limits, const Group& group, const std::string& path) {
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
  auto group = find_path(root);
  if (!group || !find_mount(root, *group)) return result;
  // A limit anywhere above this group holds for it too.
  for (std::string path = group->path == "/" ? "" : group->path;; path.erase(path.rfind('/'))) {
    bound_by(result, *group, path);
    if (path.rfind('/') == std::string::npos) return result;
  }
}

void check_headroom(std::int64_t bytes, int node_ranks) {
  const NodeLimits limits = NodeLimits::read();
  const std::int64_t usable = limits.available - limits.available / 32;
  check<MemoryError>(
      bytes <= usable / node_ranks,
      "no memory left: {} bytes wanted on each of the {} ranks of the node, {} bytes available "
      "to all of them within the limit of {}",
      bytes, node_ranks, usable, limits.bound);
}

}  // namespace partita
