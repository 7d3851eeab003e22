#include "runtime/threads_per_rank.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "runtime/host_identity.hpp"

namespace partita {

namespace {

std::vector<int> affinity() {
  // Machines with more processors than a cpu_set_t holds need a larger set.
  for (int processors = CPU_SETSIZE; processors <= (1 << 20); processors *= 2) {
    const auto count = static_cast<std::size_t>(processors);
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    std::vector<unsigned long> words(bytes / sizeof(unsigned long));
    auto* const set = reinterpret_cast<cpu_set_t*>(words.data());
    if (sched_getaffinity(0, bytes, set) != 0) continue;
    std::vector<int> result;
    for (std::size_t i = 0; i < count; ++i) {
      if (CPU_ISSET_S(i, bytes, set)) result.push_back(static_cast<int>(i));
    }
    return result;
  }
  return {0};
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double positive_number(const std::string& text) {
  try {
    return std::max(0.0, std::stod(text));
  } catch (const std::exception&) {
    return 0;  // "max", "-1", or nothing
  }
}

// "200000 100000", "max 100000": microseconds of a period.
double quota_v2(const std::filesystem::path& folder) {
  std::istringstream line(first_line(folder / "cpu.max"));
  std::string granted, period;
  line >> granted >> period;
  const double length = positive_number(period);
  return length > 0 ? positive_number(granted) / length : 0;
}

double quota_v1(const std::filesystem::path& folder) {
  const double length = positive_number(first_line(folder / "cpu.cfs_period_us"));
  return length > 0 ? positive_number(first_line(folder / "cpu.cfs_quota_us")) / length : 0;
}

// The lowest quota on the way from `path` up to the mount point. A path that the mount does not show (as in a
// container) leaves the levels that it does.
template <class Quota>
double lowest_on_the_way(const std::filesystem::path& mount, const std::string& path, Quota quota) {
  double lowest = std::numeric_limits<double>::infinity();
  std::filesystem::path level = std::filesystem::path(path).relative_path();
  while (true) {
    const double here = quota(level.empty() ? mount : mount / level);
    if (here > 0) lowest = std::min(lowest, here);
    if (level.empty()) return lowest;
    level = level.parent_path();
  }
}

bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

// How many ranks of my host may use each core.
std::map<int, int> users_of_cores(std::span<const Cores> ranks, const std::string& host) {
  std::map<int, int> users;
  for (const Cores& rank : ranks) {
    if (rank.host != host) continue;
    for (const int core : rank.usable) ++users[core];
  }
  return users;
}

int ranks_of_host(std::span<const Cores> ranks, const std::string& host) {
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.end(), [&](const Cores& rank) { return rank.host == host; }));
}

}  // namespace

double processor_quota(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::filesystem::path mount = root + "/sys/fs/cgroup";
  double lowest = std::numeric_limits<double>::infinity();
  // Lines "number:controllers:path"; version 2 has the number 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) lowest = std::min(lowest, lowest_on_the_way(mount, path, quota_v2));
    if (!names_cpu(controllers)) continue;
    for (const auto& folder : {mount / controllers, mount / "cpu"}) {
      lowest = std::min(lowest, lowest_on_the_way(folder, path, quota_v1));
    }
  }
  return std::isfinite(lowest) ? lowest : 0;
}

Cores this_rank_cores(std::string_view place, const std::string& root) {
  return {host_of(place), affinity(), processor_quota(root)};
}

int threads_per_rank(std::span<const Cores> ranks, int me) {
  const Cores& mine = ranks[static_cast<std::size_t>(me)];
  const std::map<int, int> users = users_of_cores(ranks, mine.host);
  double share = 0;
  for (const int core : mine.usable) share += 1.0 / users.at(core);
  if (mine.quota > 0) share = std::min(share, mine.quota / ranks_of_host(ranks, mine.host));
  return std::max(1, static_cast<int>(share + 1e-6));
}

bool cores_for_all(std::span<const Cores> ranks, int me) {
  const Cores& mine = ranks[static_cast<std::size_t>(me)];
  const int sharing = ranks_of_host(ranks, mine.host);
  const auto cores = users_of_cores(ranks, mine.host).size();
  return static_cast<std::size_t>(sharing) <= cores && (mine.quota <= 0 || sharing <= mine.quota);
}

}  // namespace partita
