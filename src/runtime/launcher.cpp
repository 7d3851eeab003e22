#include "runtime/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace partita {

bool started_by_launcher() {
  // Open MPI; PMI-1 and PMI-2 (MPICH, Intel MPI, Slurm, Flux); PMIx (Open MPI 5, Slurm); Cray PALS.
  static constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_FD", "PMI_SIZE", "PMIX_RANK",
                                    "PALS_RANKID"};
  return std::any_of(names.begin(), names.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

RanksPerNode ranks_per_node_setting(int option) {
  if (option < 0) return {0, fmt::format("ranks_per_node is {}; it must be 0 or more", option)};
  const char* text = std::getenv("PARTITA_RANKS_PER_NODE");
  if (option > 0 || text == nullptr || *text == '\0') return {option, ""};
  const std::string_view value = text;
  int number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < 0) {
    return {0, fmt::format("PARTITA_RANKS_PER_NODE is \"{:.40}\"; it must be a number, 0 or more", value)};
  }
  return {number, ""};
}

}  // namespace partita
