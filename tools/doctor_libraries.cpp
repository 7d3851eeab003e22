// BLAS, FFT, CUDA and NCCL: opened by name, as the library itself opens them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>
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

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string last_line_with(const std::string& text, const std::string& mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string::npos ? "" : first_line(text.substr(at));
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

Finding examine_cuda() {
  const Library library = open_library("libcuda.so.1");
  if (!library) {
    return {"CUDA", Health::missing, "no driver (libcuda.so.1): ranks compute on the CPU", {}, ""};
  }
  const auto start = symbol<int (*)(unsigned)>(library, "cuInit");
  const auto count = symbol<int (*)(int*)>(library, "cuDeviceGetCount");
  const auto version = symbol<int (*)(int*)>(library, "cuDriverGetVersion");
  const int refused = start == nullptr ? -1 : start(0);
  int devices = 0, number = 0;
  if (refused != 0 || count == nullptr || count(&devices) != 0 || devices == 0) {
    return {"CUDA",
            Health::warning,
            fmt::format("the driver is there but gives no device (error {})", refused),
            {},
            "see nvidia-smi; in a container, start it with --gpus all"};
  }
  if (version != nullptr) version(&number);
  Finding finding{"CUDA",
                  Health::ok,
                  fmt::format("{} device{}, driver for CUDA {}.{}", devices, devices == 1 ? "" : "s",
                              number / 1000, number % 1000 / 10),
                  {},
                  ""};
  if (!find_in_path("nvidia-smi").empty()) {
    finding.details.push_back(
        first_line(output_of({"nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"})));
  }
  const std::string compiler = find_in_path("nvcc");
  finding.details.push_back(compiler.empty()
                                ? "no nvcc in the PATH: the CUDA backend cannot be built here"
                                : last_line_with(output_of({compiler, "--version"}), "Cuda compilation"));
  return finding;
}

Finding examine_nccl() {
  const Library library = open_library("libnccl.so.2");
  const auto version = symbol<int (*)(int*)>(library, "ncclGetVersion");
  int number = 0;
  if (version == nullptr || version(&number) != 0) {
    return {"NCCL", Health::missing, "not there (libnccl.so.2); only GPUs need it", {}, ""};
  }
  return {
      "NCCL", Health::ok, fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100), {}, ""};
}

}  // namespace partita::tools
