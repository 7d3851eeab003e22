#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <partita/device_report.hpp>
#include <partita/mpi_report.hpp>
#include <sstream>

#include "tools/command_line.hpp"
#include "tools/doctor.hpp"
#include "tools/job.hpp"

namespace partita::tools {
namespace {

constexpr std::string_view version_mark = "version: ", problem_mark = "problem: ", memory_mark = "memory: ";

/// Of what every MPI has alike, so that no mpi.h is needed.
template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

std::string first_line_of_version(void* library) {
  std::array<char, 8192> text{};  // MPI_MAX_LIBRARY_VERSION_STRING of no MPI is more
  int (*version)(char*, int*) = nullptr;
  int length = 0;
  if (!find(library, "MPI_Get_library_version", version)) return "";
  version(text.data(), &length);
  std::string line;
  std::getline(std::istringstream(text.data()), line);
  for (char& c : line) c = c == '\t' ? ' ' : c;
  return line;
}

std::string why_no_device_memory(void* library) {
  int (*init)(int*, char***) = nullptr;
  int (*finalize)() = nullptr;
  if (!find(library, "MPI_Init", init) || !find(library, "MPI_Finalize", finalize)) return "it is not an MPI";
  if (init(nullptr, nullptr) != 0) return "MPI does not start";
  const MpiMemoryReport report = report_mpi_memory();
  finalize();
  return report.why_host_only;
}

/// What stands behind the mark, on a line that MPI's own words may surround.
std::string after(std::string_view mark, const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) return line.substr(mark.size());
  }
  return "";
}

}  // namespace

void answer_for_mpi(const std::string& library, bool starts_it) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    fmt::print("{}{}\n", problem_mark, why == nullptr ? library : why);
    return;
  }
  const std::string version = first_line_of_version(handle);
  fmt::print("{}{}\n", version.empty() ? problem_mark : version_mark,
             version.empty() ? "it is not an MPI" : version);
  if (version.empty() || !starts_it) return;
  const std::string why_not = why_no_device_memory(handle);
  fmt::print("{}{}\n", memory_mark, why_not.empty() ? "yes" : why_not);
}

MpiAnswer ask_mpi(const std::vector<std::string>& libraries, bool starts_it) {
  MpiAnswer answer;
  for (const std::string& library : libraries) {
    std::vector<std::string> command{own_program(), "doctor", "--ask-mpi", library};
    if (starts_it) command.emplace_back("--start-mpi");
    const std::string output = output_of(command);
    answer.library = library;
    answer.version = after(version_mark, output);
    answer.memory = after(memory_mark, output);
    if (!answer.version.empty()) return answer;
    (answer.problem += answer.problem.empty() ? "" : "; ") += after(problem_mark, output);
  }
  return answer;
}

}  // namespace partita::tools
