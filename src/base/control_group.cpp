#include "base/control_group.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace partita {
namespace {

bool lists(const std::string& commas, std::string_view name) {
  return ("," + commas + ",").find(fmt::format(",{},", name)) != std::string::npos;
}

/// Lines of /proc/self/cgroup: "4:memory:/path" (v1), "0::/path" (v2). Version 1's controller wins: where
/// both are mounted, it has what it names.
std::optional<ControlGroup> find_path(std::string_view controller, const std::string& root) {
  std::optional<ControlGroup> result;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (lists(controllers, controller)) return ControlGroup{false, "", path};
    if (controllers.empty()) result = ControlGroup{true, "", path};
  }
  return result;
}

/// Lines of /proc/self/mountinfo: "32 31 0:29 ROOT MOUNT options ... - TYPE source super,options".
bool find_mount(std::string_view controller, const std::string& root, ControlGroup& group) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string skip, mounted_root, mount, type, super;
    words >> skip >> skip >> skip >> mounted_root >> mount;
    while (words >> skip && skip != "-") {
    }
    words >> type >> skip >> super;
    if (type != (group.unified ? "cgroup2" : "cgroup")) continue;
    if (!group.unified && !lists(super, controller)) continue;
    // In a container the mount shows only the part of the tree below `mounted_root`.
    if (mounted_root != "/" && group.path.starts_with(mounted_root)) group.path.erase(0, mounted_root.size());
    group.mount = root + mount;
    return true;
  }
  return false;
}

}  // namespace

std::optional<ControlGroup> ControlGroup::of_this_process(std::string_view controller,
                                                          const std::string& root) {
  auto group = find_path(controller, root);
  if (!group || !find_mount(controller, root, *group)) return std::nullopt;
  if (group->path == "/") group->path.clear();
  return group;
}

std::vector<std::string> ControlGroup::levels() const {
  std::vector<std::string> paths{path};
  for (std::size_t end = path.rfind('/'); end != std::string::npos; end = paths.back().rfind('/')) {
    paths.push_back(path.substr(0, end));
  }
  return paths;
}

}  // namespace partita
