// BLAS, FFT, CUDA and NCCL: opened by name, as the library itself opens them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
#include <partita/device_report.hpp>
#include <partita/machine_report.hpp>

#include "tools/doctor.hpp"
#include "tools/launcher.hpp"

namespace partita::tools {
namespace {

using Library = std::unique_ptr<void, int (*)(void*)>;

Library open_library(const char* name) {
  return {dlopen(name, RTLD_LAZY | RTLD_LOCAL), [](void* handle) { return dlclose(handle); }};
}

template <class Function>
Function symbol(const Library& library, const char* name) {
  return library ? reinterpret_cast<Function>(dlsym(library.get(), name)) : nullptr;
}

}  // namespace

Finding examine_blas() {
  const BlasReport report = report_blas();
  if (!report.found) {
    return {"BLAS",
            Health::missing,
            report.note,
            {"redistribution works without; matrix products do not"},
            "apt-get install libopenblas0-pthread"};
  }
  Finding finding{"BLAS",
                  Health::ok,
                  fmt::format("{} kernels, {:.0f} GF/s on one core in double precision", report.core_type,
                              report.flops_per_second / 1e9),
                  {report.path, report.configuration},
                  ""};
  if (!report.chosen_core_type.empty()) {
    finding.details.push_back(fmt::format(
        "Partita chose the core type {} from cpuid before the library was opened", report.chosen_core_type));
  }
  if (!report.note.empty()) {
    finding.health = Health::warning;
    finding.advice = report.note;
  }
  return finding;
}

Finding examine_fft() {
  const FftReport report = report_fft();
  if (!report.found) {
    return {"FFT",
            Health::missing,
            report.note,
            {"redistribution works without; Fourier transforms do not"},
            "apt-get install libfftw3-double3 libfftw3-single3"};
  }
  Finding finding{"FFT", Health::ok, report.version, {report.path}, ""};
  const FftReport single = report_fft(true);
  if (!single.found) {
    finding.health = Health::warning;
    finding.details.push_back("not in single precision: " + single.note);
    finding.advice = "apt-get install libfftw3-single3";
  } else if (single.path != report.path) {
    finding.details.push_back(single.path);
  }
  return finding;
}

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string describe(const DeviceReport::One& device, int number) {
  return fmt::format("{}: {}, {:.0f} GiB, compute capability {}, peers {}{}", number, device.name,
                     static_cast<double>(device.memory_bytes) / 0x1p30, device.architecture,
                     device.peers.empty() ? "none" : fmt::format("{}", fmt::join(device.peers, ",")),
                     device.shareable_memory && device.stream_flags
                         ? ""
                         : "; its memory cannot be shared: messages go through the host");
}

Finding examine_cuda() {
  const DeviceReport report = report_devices();
  const std::string compiler = find_in_path("nvcc");
  if (!report.built_in) {
    return {"CUDA",
            Health::missing,
            report.note,
            {"ranks compute on the CPU"},
            compiler.empty() ? "install the CUDA toolkit (nvcc) and build again"
                             : "build again: nvcc is here now"};
  }
  const std::string built = fmt::format("built with CUDA {}", version_text(report.runtime_version));
  if (report.devices.empty()) {
    const bool driver = report.driver_version > 0;
    return {"CUDA",
            driver ? Health::warning : Health::missing,
            fmt::format("{}: ranks compute on the CPU", report.note),
            {built},
            driver ? "see nvidia-smi; in a container, start it with --gpus all" : ""};
  }
  Finding finding{"CUDA",
                  Health::ok,
                  fmt::format("{} device{}, driver for CUDA {}", report.devices.size(),
                              report.devices.size() == 1 ? "" : "s", version_text(report.driver_version)),
                  {built},
                  ""};
  int number = 0;
  for (const DeviceReport::One& device : report.devices) {
    finding.details.push_back(describe(device, number++));
    const bool alone = report.devices.size() > 1 && device.peers.empty();
    if (!alone) continue;
    finding.health = Health::warning;
    finding.advice =
        "devices do not reach each other: see nvidia-smi topo -p2p r; messages go through the host";
  }
  return finding;
}

Finding examine_nccl() {
  const Library library = open_library("libnccl.so.2");
  const auto version = symbol<int (*)(int*)>(library, "ncclGetVersion");
  int number = 0;
  if (version == nullptr || version(&number) != 0) {
    return {"NCCL",
            Health::missing,
            "not there (libnccl.so.2); only benchmarks on GPUs use it",
            {},
            "pip install nvidia-nccl-cu13, or the CUDA toolkit's package"};
  }
  return {
      "NCCL", Health::ok, fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100), {}, ""};
}

}  // namespace partita::tools
