#include "runtime/groups/mpi_choice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/check.hpp"

namespace partita::runtime {
namespace {

constexpr std::array open_mpi_libraries{"libmpi.so.40"};
// As MPICH's own releases and Intel call it, as Debian does, and as Cray does.
constexpr std::array mpich_libraries{"libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"};

bool contains(const std::vector<MpiFamily>& families, std::optional<MpiFamily> family) {
  return family && std::find(families.begin(), families.end(), *family) != families.end();
}

/// Slurm and Flux speak PMI with whatever MPI has been built for it; Hydra, which MPICH and Intel have, with
/// its own.
bool is_of_scheduler(const Environment& environment) {
  return !environment("SLURM_PROCID").empty() || !environment("FLUX_JOB_ID").empty();
}

/// Of several that are loaded.
const LoadedMpi& best_of(const std::vector<LoadedMpi>& loaded, const std::optional<MpiLauncher>& launcher) {
  const auto rank_of = [&](const LoadedMpi& mpi) {
    const bool of_launcher = launcher && contains(launcher->families, family_of(mpi.version));
    return (mpi.running ? 2 : 0) + (of_launcher ? 1 : 0);
  };
  return *std::max_element(loaded.begin(), loaded.end(),
                           [&](const LoadedMpi& a, const LoadedMpi& b) { return rank_of(a) < rank_of(b); });
}

MpiChoice take_loaded(const LoadedMpi& mpi, const std::vector<MpiFamily>& modules) {
  check<UnsupportedError>(contains(modules, family_of(mpi.version)),
                          "the process has loaded {} ({}), for which this Partita has no module (it has: {})",
                          mpi.path, mpi.version, names_of(modules));
  return {{mpi.path}, mpi.running ? "it runs in this process" : "the process has loaded it"};
}

MpiChoice take_callers(const Communicator& communicator, const std::vector<LoadedMpi>& loaded,
                       const std::vector<MpiFamily>& modules) {
  const std::optional<MpiFamily> family = family_of(communicator.implementation);
  check<UnsupportedError>(contains(modules, family),
                          "the communicator belongs to {}, for which this Partita has no module (it has: {})",
                          communicator.implementation, names_of(modules));
  std::vector<LoadedMpi> its;
  std::copy_if(loaded.begin(), loaded.end(), std::back_inserter(its),
               [&](const LoadedMpi& mpi) { return family_of(mpi.version) == family; });
  check(!its.empty(), "the communicator belongs to {}, but the process has loaded {}",
        communicator.implementation, loaded.empty() ? "no MPI" : loaded.front().version);
  return take_loaded(best_of(its, std::nullopt), modules);
}

MpiChoice take_launchers(const MpiLauncher& launcher, const std::vector<MpiFamily>& modules) {
  MpiChoice choice{{}, fmt::format("its launcher started the process ({} is set)", launcher.variable)};
  for (const MpiFamily family : launcher.families) {
    if (!contains(modules, family)) continue;
    const auto libraries = libraries_of(family);
    choice.libraries.insert(choice.libraries.end(), libraries.begin(), libraries.end());
  }
  check<UnsupportedError>(!choice.libraries.empty(),
                          "a launcher of {} started this process ({} is set), for which this Partita has no "
                          "module (it has: {})",
                          names_of(launcher.families), launcher.variable, names_of(modules));
  return choice;
}

}  // namespace

std::string_view name_of(MpiFamily family) {
  return family == MpiFamily::open_mpi ? "Open MPI" : "MPICH";
}

std::string_view module_name_of(MpiFamily family) {
  return family == MpiFamily::open_mpi ? "openmpi" : "mpich";
}

std::span<const char* const> libraries_of(MpiFamily family) {
  if (family == MpiFamily::open_mpi) return open_mpi_libraries;
  return mpich_libraries;
}

std::optional<MpiFamily> family_of(std::string_view text) {
  const auto names = [text](std::string_view name) { return text.find(name) != std::string_view::npos; };
  if (names("Open MPI")) return MpiFamily::open_mpi;
  if (names("MPICH") || names("MVAPICH") || names("Intel(R) MPI")) return MpiFamily::mpich;
  return std::nullopt;
}

std::string names_of(const std::vector<MpiFamily>& families) {
  std::string text;
  for (const MpiFamily family : families) (text += text.empty() ? "" : " and ") += name_of(family);
  return text.empty() ? "none" : text;
}

std::optional<MpiLauncher> launcher_of(const Environment& environment) {
  using enum MpiFamily;
  const auto is_set = [&](const char* name) { return !environment(name).empty(); };
  // Open MPI sets PMIx's variables, too, and Cray's PALS those of PMI.
  if (is_set("OMPI_COMM_WORLD_SIZE")) return MpiLauncher{"OMPI_COMM_WORLD_SIZE", {open_mpi}};
  if (is_set("PALS_RANKID")) return MpiLauncher{"PALS_RANKID", {mpich}};
  for (const char* const name : {"PMI_RANK", "PMI_FD", "PMI_SIZE"}) {
    if (!is_set(name)) continue;
    if (is_of_scheduler(environment)) return MpiLauncher{name, {mpich, open_mpi}};
    return MpiLauncher{name, {mpich}};
  }
  if (is_set("PMIX_RANK")) return MpiLauncher{"PMIX_RANK", {open_mpi, mpich}};
  return std::nullopt;
}

int launched_ranks(const Environment& environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const std::string_view text = environment(name);
    int ranks = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), ranks).ec == std::errc{}) return ranks;
  }
  return 0;
}

MpiChoice choose_mpi(const Communicator& communicator, const std::vector<LoadedMpi>& loaded,
                     const Environment& environment, const std::vector<MpiFamily>& modules) {
  if (communicator.handle_bytes > 0) return take_callers(communicator, loaded, modules);
  const std::optional<MpiLauncher> launcher = launcher_of(environment);
  if (!loaded.empty()) {
    const LoadedMpi& best = best_of(loaded, launcher);
    if (best.running || launcher) return take_loaded(best, modules);
    return {{},
            fmt::format("this process was not started by an MPI launcher, and {}, which it has loaded, is "
                        "not initialised",
                        best.path)};
  }
  if (!launcher) return {{}, "this process was not started by an MPI launcher and has loaded no MPI"};
  if (const std::string_view named = environment("PARTITA_MPI_LIBRARY"); !named.empty())
    return {{std::string(named)}, "PARTITA_MPI_LIBRARY names it"};
  return take_launchers(*launcher, modules);
}

}  // namespace partita::runtime
