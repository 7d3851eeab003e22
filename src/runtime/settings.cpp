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

// The words of each enumeration, in its order.
constexpr std::array<std::string_view, 6> levels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 3> readings{"automatic", "off", "allow"};
constexpr std::array<std::string_view, 3> heaps{"automatic", "driver", "nvshmem"};
constexpr std::array<std::string_view, 3> collectives{"automatic", "own", "library"};
constexpr std::array<std::string_view, 3> messages{"automatic", "staged", "direct"};
constexpr std::array<std::string_view, 3> copies{"automatic", "engine", "kernel"};

template <auto member, const auto& words>
bool read_word(std::string_view text, ContextOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != text) continue;
    options.*member = static_cast<std::remove_reference_t<decltype(options.*member)>>(i);
    return true;
  }
  return false;
}
template <auto member, const auto& words>
std::string show_word(const ContextOptions& options) {
  return std::string(words.at(static_cast<std::size_t>(options.*member)));
}

using O = ContextOptions;

template <auto member, std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max()>
constexpr Setting number(const char* variable, std::string_view option, std::string_view values,
                         std::string_view purpose, bool alike) {
  return {variable, option, values, purpose, alike, read_number<member, least, most>, show_number<member>};
}
template <auto member, const auto& words>
constexpr Setting word(const char* variable, std::string_view option, std::string_view values,
                       std::string_view purpose, bool alike) {
  return {variable, option, values, purpose, alike, read_word<member, words>, show_word<member, words>};
}

constexpr std::array table{
    Setting{"PARTITA_DEADLINE", "deadline", "it must be a number of seconds, from 0.001 to 3.2e7",
            "seconds without progress that a wait allows; may have a fraction", false, read_deadline,
            show_deadline},
    number<&O::threads, 0>("PARTITA_THREADS", "threads", "it must be a whole number, 0 or more",
                           "threads of BLAS and FFT in a rank; 0: the rank's share of the cores", false),
    number<&O::ranks_per_node, 0>("PARTITA_RANKS_PER_NODE", "ranks_per_node",
                                  "it must be a whole number, 0 or more",
                                  "treat the ranks as if so many sat on a node; 0: as they are", true),
    // All ranks must have the same figures, whatever the machine is called.
    Setting{"PARTITA_MACHINE", "machine", "it must be a shipped name or the path of a description",
            "the machine by whose figures algorithms are chosen", false, read_machine, runtime::machine_of},
    word<&O::log, levels>("PARTITA_LOG", "log", "known: trace, debug, info, warn, error, off",
                          "what is logged, on stderr", false),
    number<&O::memory_limit, 0>("PARTITA_MEMORY_LIMIT", "memory_limit",
                                "it must be a whole number of bytes, 0 or more",
                                "bytes that a rank's symmetric heap may have; 0: unlimited", false),
    number<&O::plan_cache_size, 1>("PARTITA_PLAN_CACHE_SIZE", "plan_cache_size",
                                   "it must be a whole number, 1 or more",
                                   "plans of one-line calls that a context keeps, with their scratch", true),
    number<&O::plan_cache_bytes, 0>("PARTITA_PLAN_CACHE_BYTES", "plan_cache_bytes",
                                    "it must be a whole number of bytes, 0 or more",
                                    "bytes of scratch that these plans may have in all; 0: eight times the "
                                    "largest plan, at least 256 MiB",
                                    true),
    word<&O::cross_memory, readings>("PARTITA_CROSS_MEMORY", "cross_memory", "known: automatic, off, allow",
                                     "whether ranks of a node read each other's ordinary memory through the "
                                     "kernel; automatic: where it lets "
                                     "them; allow: and Yama is told that other processes of the user may",
                                     true),
    word<&O::device_heap, heaps>("PARTITA_DEVICE_HEAP", "device_heap", "known: automatic, driver, nvshmem",
                                 "what the heap of devices lies in; automatic: the driver's memory, and "
                                 "NVSHMEM's where peers cannot map that",
                                 true),
    word<&O::device_collectives, collectives>("PARTITA_DEVICE_COLLECTIVES", "device_collectives",
                                              "known: automatic, own, library",
                                              "who carries out collectives on devices: Partita or NCCL; "
                                              "automatic: whichever is faster",
                                              true),
    word<&O::device_messages, messages>(
        "PARTITA_DEVICE_MESSAGES", "device_messages", "known: automatic, staged, direct",
        "how messages of device memory go to the transport: through pinned host memory, or as they are; "
        "automatic: between nodes by the vendor's library (NCCL) where there is one, past the transport; "
        "else "
        "as they are where the transport says that it takes them",
        true),
    word<&O::copy_way, copies>("PARTITA_COPY_WAY", "copy_way", "known: automatic, engine, kernel",
                               "how devices copy: the copy engine wherever it can, or kernels", true),
    number<&O::device_lanes, 0, 7>("PARTITA_DEVICE_LANES", "device_lanes", "it must be a number from 0 to 7",
                                   "streams that large plans may use in addition to the context's own", true),
    Setting{"PARTITA_MACHINES", "", "it must be a folder",
            "where machine descriptions are looked for before anywhere else"},
    Setting{"PARTITA_MPI_LIBRARY", "", "it must be an MPI library of Open MPI's or of MPICH's family",
            "the MPI that a process opens which a launcher has started and that has loaded none; unset: the "
            "launcher's"},
    Setting{"PARTITA_FFT_LIBRARY", "", "it must be a library with the FFTW3 interface",
            "the library that computes transforms in place of FFTW"},
    Setting{"PARTITA_SCALAPACK_THRESHOLD", "", "it must be a number of 0 or more",
            "what the drop-in for ScaLAPACK multiplies its limits by; 0: nothing is handed on because it is "
            "small",
            false, nullptr, nullptr, "1"},
    Setting{
        "PARTITA_SCALAPACK_DEVICE", "", "it must be cpu, cuda or cuda:MACHINE",
        "where the drop-in for ScaLAPACK multiplies; cuda: on GPUs, where the price by the figures of that "
        "machine (unset: node-8-gpu) is lower",
        false, nullptr, nullptr, "cpu"},
    Setting{"OPENBLAS_CORETYPE", "", "it must be a name that OpenBLAS knows",
            "whose kernels OpenBLAS uses; unset: those that suit the processor"},
    Setting{"NVSHMEM_SYMMETRIC_SIZE", "", "it must be a number of bytes, perhaps with k, m, g or t",
            "what all contexts of the process get of a device's memory in NVSHMEM; unset: three quarters of "
            "what is free"},
};

/// "it must be a number from 0 to 7" -> "a number from 0 to 7"
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
