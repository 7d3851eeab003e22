#include "runtime/groups/mpi_module.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <partita/mpi_report.hpp>
#include <partita/version.hpp>

#include "base/environment_variable.hpp"
#include "base/opened_library.hpp"
#include "runtime/groups/mpi_loaded.hpp"

namespace partita {
namespace runtime {
namespace {

namespace fs = std::filesystem;

std::atomic<const OpenedMpi*> opened{nullptr};

/// Next to the library, and next to a program in bin/ that has it linked in.
std::vector<fs::path> module_folders() {
  const fs::path here = fs::path(path_of_library(reinterpret_cast<const void*>(&open_mpi))).parent_path();
  return {here / "partita", here.parent_path() / "lib" / "partita"};
}

/// Empty: there is none.
std::string module_of(MpiFamily family) {
  for (const fs::path& folder : module_folders()) {
    const fs::path file = folder / fmt::format("libpartita-mpi-{}.so", module_name_of(family));
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file.string();
  }
  return "";
}

std::vector<MpiFamily> families_with_modules() {
  std::vector<MpiFamily> families;
  for (const MpiFamily family : mpi_families) {
    if (!module_of(family).empty()) families.push_back(family);
  }
  return families;
}

MpiChoice choose(const Communicator& communicator) {
  return choose_mpi(communicator, loaded_mpis(), environment_variable, families_with_modules());
}

/// To all libraries: the module's calls find it so, and Python opens it for its extension alone.
void* open_one_of(const MpiChoice& choice) {
  std::string reasons;
  for (const std::string& library : choice.libraries) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle != nullptr) return handle;
    const char* const why = dlerror();
    (reasons += reasons.empty() ? "" : "; ") += why == nullptr ? library : why;
  }
  throw UnsupportedError(fmt::format(
      "{}, but no MPI library can be opened: {} (PARTITA_MPI_LIBRARY may name one)", choice.why, reasons));
}

const mpi::Calls* open_module(MpiFamily family) {
  const std::string path = module_of(family);
  void* const module = open_library(path, "the module for MPI cannot be opened: {}");
  const auto calls = symbol_of<mpi::CallsOfModule*>(module, path.c_str(), "partita_mpi_calls")();
  check<UnsupportedError>(std::string_view(calls->partita_version) == PARTITA_VERSION,
                          "{} is of Partita {}, and this is {}", path, calls->partita_version,
                          PARTITA_VERSION);
  return calls;
}

OpenedMpi open_chosen(const MpiChoice& choice) {
  check<UnsupportedError>(!choice.libraries.empty(), "no MPI is available: {}", choice.why);
  const std::optional<LoadedMpi> library = mpi_of(open_one_of(choice));
  check<UnsupportedError>(library.has_value(), "{}, but it is not an MPI library", choice.why);
  OpenedMpi mpi;
  mpi.library = library->path;
  mpi.version = library->version;
  mpi.why = choice.why;
  const std::optional<MpiFamily> family = family_of(mpi.version);
  check<UnsupportedError>(family && !module_of(*family).empty(),
                          "{} is {}, for which this Partita has no module (it has: {})", mpi.library,
                          mpi.version, names_of(families_with_modules()));
  mpi.family = *family;
  mpi.calls = open_module(mpi.family);
  std::array<char, mpi::longest_text> text{};
  mpi.calls->get_library_version(text.data());
  const std::string met = first_line_of_version(text.data());
  check<UnsupportedError>(met == mpi.version,
                          "two MPIs are in this process: {} was chosen, but its symbols belong to {}",
                          mpi.version, met);
  return mpi;
}

void check_is_of(const Communicator& communicator, const OpenedMpi& mpi) {
  if (communicator.handle_bytes == 0) return;
  check(family_of(communicator.implementation) == mpi.family &&
            communicator.handle_bytes == mpi.calls->handle_bytes,
        "the communicator belongs to {}, but Partita runs with {} in this process",
        communicator.implementation, mpi.version);
}

}  // namespace

const OpenedMpi* opened_mpi() noexcept {
  return opened.load(std::memory_order_acquire);
}

const OpenedMpi& open_mpi(const Communicator& communicator) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (opened_mpi() == nullptr) {
    static OpenedMpi mpi;
    mpi = open_chosen(choose(communicator));
    opened = &mpi;
  }
  check_is_of(communicator, *opened_mpi());
  return *opened_mpi();
}

}  // namespace runtime

MpiReport report_mpi() {
  using namespace runtime;
  MpiReport report;
  for (const MpiFamily family : families_with_modules()) {
    const auto libraries = libraries_of(family);
    report.modules.push_back(
        {std::string(module_name_of(family)), module_of(family), {libraries.begin(), libraries.end()}});
  }
  if (const OpenedMpi* const mpi = opened_mpi(); mpi != nullptr) {
    report.taken = true;
    report.description = mpi->version;
    report.library = mpi->library;
    report.module = module_name_of(mpi->family);
    report.why = mpi->why;
    return report;
  }
  try {
    const std::vector<LoadedMpi> loaded = loaded_mpis();
    const MpiChoice choice = choose_mpi({}, loaded, environment_variable, families_with_modules());
    report.why = choice.why;
    if (choice.libraries.empty()) return report;
    report.library = choice.libraries.front();
    for (const LoadedMpi& mpi : loaded) {
      if (mpi.path == report.library) report.description = mpi.version;
    }
  } catch (const Error& error) {
    report.why = error.what();
  }
  return report;
}

std::string mpi_description() {
  const MpiReport report = report_mpi();
  const std::string& what = report.description.empty() ? report.library : report.description;
  return fmt::format("{}: {}", what.empty() ? "none" : what, report.why);
}

}  // namespace partita
