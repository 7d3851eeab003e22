#include "runtime/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <partita/settings.hpp>

#include "base/check.hpp"
#include "base/environment_variable.hpp"

namespace partita {

std::string runtime::machine_of(const ContextOptions& options) {
  if (!options.machine.empty()) return options.machine;
  return options.device.kind == Device::Kind::cuda ? "node-8-gpu" : "laptop";
}

namespace {

using namespace runtime;

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <auto member>
std::string show_number(const ContextOptions& options) {
  return fmt::format("{}", options.*member);
}

template <auto member, std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()>
bool read_number(std::string_view text, ContextOptions& options) {
  using Number = std::remove_reference_t<decltype(options.*member)>;
  const std::optional<Number> number = parse<Number>(text);
  if (!number || *number < least || *number > most) return false;
  options.*member = *number;
  return true;
}

// A year is as good as for ever, and keeps the arithmetic from overflowing.
bool read_deadline(std::string_view text, ContextOptions& options) {
  const std::optional<double> seconds = parse<double>(text);
  const bool good = seconds && *seconds >= 0.001 && *seconds <= 3.2e7;
  if (good) options.deadline = std::chrono::milliseconds(std::llround(*seconds * 1000));
  return good;
}
std::string show_deadline(const ContextOptions& options) {
  return fmt::format("{}", static_cast<double>(options.deadline.count()) / 1000);
}

// Whether there is such a machine is found out when it is read.
bool read_machine(std::string_view text, ContextOptions& options) {
  options.machine = text;
  return true;
}

template <auto member>
using OptionOf = std::remove_reference_t<decltype(std::declval<ContextOptions&>().*member)>;

template <auto member>
bool read_word(std::string_view text, ContextOptions& options) {
  const int place = detail::find_word(text, words_of<OptionOf<member>>());
  if (place >= 0) options.*member = static_cast<OptionOf<member>>(place);
  return place >= 0;
}
template <auto member>
std::string show_word(const ContextOptions& options) {
  return std::string(name(options.*member));
}

using O = ContextOptions;

template <auto member, std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()>
constexpr Setting number(const char* variable, std::string_view option, std::string_view values,
                         std::string_view purpose, bool alike) {
  return {variable, option, values, purpose, alike, read_number<member, least, most>, show_number<member>};
}
template <auto member>
constexpr Setting word(const char* variable, std::string_view option, std::string_view values,
                       std::string_view purpose, bool alike) {
  return {variable, option, values, purpose, alike, read_word<member>, show_word<member>};
}

constexpr std::array table{
    Setting{"PARTITA_DEADLINE", "deadline", "it must be a number of seconds, from 0.001 to 3.2e7",
            "seconds that a wait may take without progress; fractions are allowed", false, read_deadline,
            show_deadline},
    number<&O::threads, 0>("PARTITA_THREADS", "threads", "it must be a whole number, 0 or more",
                           "threads of BLAS and FFT per rank; 0: the rank's share of the cores", false),
    number<&O::ranks_per_node, 0>("PARTITA_RANKS_PER_NODE", "ranks_per_node",
                                  "it must be a whole number, 0 or more",
                                  "assume this number of ranks per node; 0: the actual one", true),
    // All ranks must have the same figures, whatever the machine is called.
    Setting{"PARTITA_MACHINE", "machine", "it must be a shipped name or the path of a description",
            "the machine whose parameters determine the choice of algorithms", false, read_machine,
            runtime::machine_of},
    word<&O::log>("PARTITA_LOG", "log", "known: trace, debug, info, warn, error, off",
                  "minimum level of log messages on stderr", false),
    number<&O::memory_limit, 0>("PARTITA_MEMORY_LIMIT", "memory_limit",
                                "it must be a whole number of bytes, 0 or more",
                                "maximum size of a rank's symmetric heap in bytes; 0: unlimited", false),
    number<&O::plan_cache_size, 1>("PARTITA_PLAN_CACHE_SIZE", "plan_cache_size",
                                   "it must be a whole number, 1 or more",
                                   "number of plans of one-line calls that a context keeps, with their "
                                   "scratch",
                                   true),
    number<&O::plan_cache_bytes, 0>("PARTITA_PLAN_CACHE_BYTES", "plan_cache_bytes",
                                    "it must be a whole number of bytes, 0 or more",
                                    "total scratch of these plans in bytes; 0: eight times the largest "
                                    "plan, at least 256 MiB",
                                    true),
    word<&O::cross_memory>("PARTITA_CROSS_MEMORY", "cross_memory", "known: automatic, off, allow",
                           "whether ranks of a node read each other's ordinary memory through the "
                           "kernel, and threads of one process that of their devices; automatic: if "
                           "it permits that; allow: also asks Yama to permit it to all processes of "
                           "the user",
                           true),
    word<&O::device_heap>("PARTITA_DEVICE_HEAP", "device_heap", "known: automatic, driver, nvshmem",
                          "memory of the device heap; automatic: the driver's memory, or "
                          "NVSHMEM's if peers cannot map that",
                          true),
    word<&O::device_collectives>("PARTITA_DEVICE_COLLECTIVES", "device_collectives",
                                 "known: automatic, own, library",
                                 "implementation of collectives on devices: Partita's own or NCCL; "
                                 "automatic: whichever is faster",
                                 true),
    word<&O::device_messages>("PARTITA_DEVICE_MESSAGES", "device_messages",
                              "known: automatic, staged, direct",
                              "how messages of device memory are passed to the transport: staged in "
                              "pinned host memory, or directly; automatic: between nodes by NCCL if "
                              "available, without the transport; otherwise directly if the transport "
                              "reports support",
                              true),
    word<&O::copy_way>("PARTITA_COPY_WAY", "copy_way", "known: automatic, engine, kernel",
                       "how devices copy: by the copy engine wherever possible, or by kernels", true),
    number<&O::device_lanes, 0, 7>("PARTITA_DEVICE_LANES", "device_lanes",
                                   "it must be a whole number from 0 to 7",
                                   "number of streams that large plans may use in addition to the "
                                   "context's own",
                                   true),
    Setting{"PARTITA_MACHINES", "", "it must be a folder",
            "first folder in which machine descriptions are searched"},
    Setting{"PARTITA_MPI_LIBRARY", "", "it must be a library of Open MPI or of the MPICH family",
            "the MPI to open in a process that a launcher has started and that has "
            "loaded none; unset: the launcher's"},
    Setting{"PARTITA_FFT_LIBRARY", "", "it must be a library with the FFTW3 interface",
            "the library that computes transforms instead of FFTW"},
    Setting{"PARTITA_SCALAPACK_THRESHOLD", "", "it must be a number, 0 or more",
            "factor for the size limits of the drop-in for ScaLAPACK; 0: small "
            "problems are not forwarded",
            false, nullptr, nullptr, "1"},
    Setting{"PARTITA_SCALAPACK_DEVICE", "", "it must be cpu, cuda or cuda:MACHINE",
            "device on which the drop-in for ScaLAPACK multiplies; cuda: GPUs if "
            "the predicted time on that machine (unset: node-8-gpu) is lower",
            false, nullptr, nullptr, "cpu"},
    Setting{"OPENBLAS_CORETYPE", "", "it must be a name that OpenBLAS knows",
            "the processor whose kernels OpenBLAS uses; unset: the actual one"},
    Setting{"NVSHMEM_SYMMETRIC_SIZE", "", "it must be a number of bytes, optionally with suffix k, m, g or t",
            "device memory that NVSHMEM allocates for all contexts of the process; "
            "unset: three quarters of the free memory"},
};

/// "it must be a whole number from 0 to 7" -> "a whole number from 0 to 7"
std::string values_of(const Setting& setting) {
  std::string_view values = setting.values;
  for (const std::string_view prefix : {"it must be ", "known: "}) {
    if (values.starts_with(prefix)) values.remove_prefix(prefix.size());
  }
  return std::string(values);
}

void check_options(const ContextOptions& options) {
  check(options.deadline.count() > 0, "the deadline is {} ms; it must be more than 0",
        options.deadline.count());
  for (const Setting& setting : table) {
    if (setting.read == nullptr || setting.option == "deadline") continue;
    ContextOptions ignored;
    const std::string value = setting.show(options);
    check(setting.read(value, ignored), "{} is {}; {}", setting.option, value, setting.values);
  }
}

}  // namespace

std::span<const Setting> runtime::settings() {
  return table;
}

std::string runtime::refusal_of(const Setting& setting, std::string_view text) {
  return fmt::format("{} is \"{:.40}\"; {}", setting.variable, text, setting.values);
}

std::vector<SettingReport> report_settings(const ContextOptions& options) {
  std::vector<SettingReport> reports;
  for (const Setting& setting : table) {
    SettingReport report{setting.variable,
                         std::string(setting.option),
                         values_of(setting),
                         "",
                         std::string(setting.purpose),
                         "",
                         "default",
                         ""};
    report.usual = setting.show == nullptr ? std::string(setting.usual) : setting.show(ContextOptions());
    report.value = setting.show == nullptr ? report.usual : setting.show(options);
    if (report.value != report.usual) report.origin = "option";
    if (const std::string_view text = environment_variable(setting.variable); !text.empty()) {
      report.value = text;
      report.origin = "environment";
      ContextOptions ignored;
      if (setting.read != nullptr && !setting.read(text, ignored)) report.problem = refusal_of(setting, text);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

ContextOptions runtime::with_environment(ContextOptions options) {
  check_options(options);
  for (const Setting& setting : table) {
    const std::string_view text = environment_variable(setting.variable);
    if (setting.read == nullptr || text.empty()) continue;
    check(setting.read(text, options), "{}", refusal_of(setting, text));
  }
  return options;
}

}  // namespace partita
