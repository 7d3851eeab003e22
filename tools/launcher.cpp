#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <partita/mpi_report.hpp>
#include <sstream>
#include <system_error>

#include "tools/command_line.hpp"
#include "tools/job.hpp"

namespace partita::tools {
namespace {

// Set by cmake/Command.cmake.
constexpr const char* our_launcher = PARTITA_LAUNCHER_PATH;
constexpr const char* open_mpi_flags = PARTITA_OPENMPI_FLAGS;
constexpr const char* mpich_flags = PARTITA_MPICH_FLAGS;

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// What cannot be looked at (a folder that may not be read, a loop of links) is none.
bool is_program(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && !std::filesystem::is_directory(path, ignored) && access(path.c_str(), X_OK) == 0;
}

LauncherKind kind_of(const std::string& version) {
  if (version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos) {
    return LauncherKind::open_mpi;
  }
  for (const char* mark : {"HYDRA", "Hydra", "hydra", "MPICH", "mpich"}) {
    if (version.find(mark) != std::string::npos) return LauncherKind::mpich;
  }
  return LauncherKind::other;
}

std::string one_line(const std::string& version, LauncherKind kind) {
  if (kind == LauncherKind::mpich) {  // "HYDRA build details:\n    Version:   4.0.2\n ..."
    const std::size_t at = version.find("Version:");
    const auto words = split(at == std::string::npos ? "" : version.substr(at + 8, 60));
    return words.empty() ? "Hydra" : "Hydra " + words.front();
  }
  return version.substr(0, version.find('\n'));
}

// The flags that a laptop, a root shell and more ranks than cores need, and that let survivors outlive a dead
// rank. They come from CMake, which starts the tests' ranks with the same.
std::vector<std::string> flags_of(LauncherKind kind) {
  std::vector<std::string> flags;
  if (kind == LauncherKind::open_mpi) {
    flags = split(open_mpi_flags);
    // Every launcher accepts it, but a user who is not root should not read it in the list of processes.
    if (geteuid() != 0) std::erase(flags, "--allow-run-as-root");
  } else if (kind == LauncherKind::mpich) {
    flags = split(mpich_flags);
  }
  return flags;
}

Launcher examine(const std::string& path) {
  const std::string said = output_of({path, "--version"});
  const LauncherKind kind = kind_of(said);
  const std::string module = kind == LauncherKind::open_mpi ? "openmpi"
                             : kind == LauncherKind::mpich  ? "mpich"
                                                            : "";
  return {kind, path, one_line(said, kind), module, flags_of(kind)};
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

bool has_mpi() {
  return !report_mpi().modules.empty();
}

bool has_mpi(const std::string& module) {
  const std::vector<MpiReport::Module> all = report_mpi().modules;
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == module; });
}

std::string find_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    folder += "/" + name;
    if (is_program(folder)) return folder;
  }
  return "";
}

std::string output_of(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) (line += quoted(word)) += ' ';
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((line + "2>&1 </dev/null").c_str(), "r"),
                                                             pclose);
  std::string text;
  char piece[4096];
  while (pipe != nullptr) {
    const std::size_t bytes = std::fread(piece, 1, sizeof piece, pipe.get());
    if (bytes == 0) break;
    text.append(piece, bytes);
  }
  return text;
}

Launcher own_launcher() {
  return {.kind = LauncherKind::own, .path = own_program()};
}

Launcher find_launcher(const std::string& given) {
  if (!given.empty()) {
    const std::string path = given.find('/') == std::string::npos ? find_in_path(given) : given;
    if (is_program(path)) return examine(path);
    return {.problem = fmt::format("there is no launcher \"{}\"", given)};
  }
  if (!has_mpi()) return own_launcher();
  for (const std::string& path : {std::string(our_launcher), find_in_path("mpirun"),
                                  find_in_path("mpirun.openmpi"), find_in_path("mpirun.mpich")}) {
    if (!is_program(path)) continue;
    Launcher launcher = examine(path);
    if (launcher.module.empty() || has_mpi(launcher.module)) return launcher;
  }
  Launcher own = own_launcher();
  own.problem = fmt::format(
      "no launcher of an MPI for which Partita has a module: neither {} nor mpirun in the PATH; "
      "install the package openmpi-bin or mpich",
      *our_launcher == '\0' ? "that of the build" : our_launcher);
  return own;
}

}  // namespace partita::tools
