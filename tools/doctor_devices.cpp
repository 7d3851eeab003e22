// GPUs: what they are, how fast they reach each other, and the libraries that talk between them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <partita/device_report.hpp>

#include "tools/command_line.hpp"
#include "tools/doctor.hpp"
#include "tools/job.hpp"

namespace partita::tools {
namespace {

std::string version_text(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string describe(const DeviceReport::One& device, int number) {
  return fmt::format(
      "{}: {}, {:.0f} GiB, compute capability {}, peers {}{}", number, device.name,
      static_cast<double>(device.memory_bytes) / 0x1p30, device.architecture,
      device.peers.empty() ? "none" : fmt::format("{}", fmt::join(device.peers, ",")),
      device.shareable_memory ? "" : "; its memory cannot be shared: messages go through the host");
}

Finding no_device(const DeviceReport& report) {
  if (!report.built_in) {
    return {"CUDA",
            Health::missing,
            report.note,
            find_in_path("nvcc").empty()
                ? "install the CUDA toolkit (nvcc) and build again with -DPARTITA_CUDA=ON"
                : "nvcc is here: build again with -DPARTITA_CUDA=ON",
            {"ranks compute on the CPU"}};
  }
  const bool driver = report.driver_version > 0;
  return {"CUDA",
          driver ? Health::warning : Health::missing,
          fmt::format("{}: ranks compute on the CPU", report.note),
          driver ? "see nvidia-smi; in a container, start it with --gpus all" : "",
          {fmt::format("built with CUDA {}", version_text(report.runtime_version))}};
}

/// A line a device: GB/s to each.
std::vector<std::string> table(const Links& links) {
  std::vector<std::string> lines{fmt::format("{:<8}", "GB/s")};
  for (std::size_t to = 0; to < links.speed.size(); ++to)
    lines[0] += fmt::format("{:>7}", fmt::format("to {}", to));
  for (std::size_t from = 0; from < links.speed.size(); ++from) {
    std::string line = fmt::format("{:<8}", fmt::format("from {}", from));
    for (std::size_t to = 0; to < links.speed.size(); ++to) {
      line += from == to ? fmt::format("{:>7}", "-") : fmt::format("{:>7.1f}", links.speed[from][to] / 1e9);
    }
    lines.push_back(line);
  }
  return lines;
}

Finding describe(const Links& links) {
  double slowest = 0, fastest = 0;
  for (std::size_t from = 0; from < links.speed.size(); ++from) {
    for (std::size_t to = 0; to < links.speed.size(); ++to) {
      if (from == to) continue;
      fastest = std::max(fastest, links.speed[from][to]);
      slowest = slowest == 0 ? links.speed[from][to] : std::min(slowest, links.speed[from][to]);
    }
  }
  Finding finding{
      "links", Health::ok,
      fmt::format("{:.0f} to {:.0f} GB/s from device to device, 64 MiB pushed by copy engine, one "
                  "pair at a time",
                  slowest / 1e9, fastest / 1e9),
      "", table(links)};
  constexpr double uneven = 0.7;
  if (slowest < uneven * fastest)
    finding.warn(
        "some pairs are far slower than others: see nvidia-smi topo -m, and choose devices with equal links "
        "with CUDA_VISIBLE_DEVICES");
  return finding;
}

/// A library of NVIDIA's. `use`: what is without it; `package`: what to install.
Finding describe(const std::string& subject, const LibraryReport& report, const std::string& use,
                 const std::string& package) {
  if (report.version > 0) {
    return {subject,
            Health::ok,
            fmt::format("{}.{}.{}", report.version / 10000, report.version / 100 % 100, report.version % 100),
            "",
            {report.path}};
  }
  if (!report_devices().built_in) return {subject, Health::missing, report.why_none};
  const bool absent = report.why_none.ends_with("is not found");
  return {subject, absent ? Health::missing : Health::warning, fmt::format("{}; {}", report.why_none, use),
          absent ? package : ""};
}

}  // namespace

Finding examine_cuda() {
  const DeviceReport report = report_devices();
  if (report.devices.empty()) return no_device(report);
  Finding finding{
      "CUDA",
      Health::ok,
      fmt::format("{}, driver for CUDA {}", count_of(static_cast<int>(report.devices.size()), "device"),
                  version_text(report.driver_version)),
      "",
      {fmt::format("built with CUDA {}", version_text(report.runtime_version))}};
  if (!report.note.empty()) finding.warn(report.note);
  int number = 0;
  for (const DeviceReport::One& device : report.devices) {
    finding.details.push_back(describe(device, number++));
    if (report.devices.size() > 1 && device.peers.empty())
      finding.warn(
          "devices cannot access each other: see nvidia-smi topo -p2p r; messages go through the host");
  }
  return finding;
}

Finding examine_links() {
  const auto devices = static_cast<int>(report_devices().devices.size());
  if (devices == 0) return {"links", Health::missing, "there are no devices to measure them between"};
  if (devices == 1) return {"links", Health::ok, "one device: there is nothing to measure"};
  const Links links = measure_links(devices);
  if (!links.speed.empty()) return describe(links);
  return {"links", Health::warning, "could not be measured: " + links.problem,
          "see nvidia-smi: do the devices have 64 MiB free, and does no process use them exclusively?"};
}

Finding examine_device_messages() {
  const std::string subject = "device MPI";
  if (!has_mpi()) return {subject, Health::missing, "there is no MPI"};
  if (report_devices().devices.empty()) return {subject, Health::missing, "not tested: there are no devices"};
  const std::string why_not = ask_mpi(libraries_for(find_launcher().module), true).memory;
  if (why_not == "yes") return {subject, Health::ok, "the MPI accepts device addresses"};
  return {
      subject,
      Health::missing,
      why_not.empty() ? "the MPI does not start in a separate process" : why_not,
      why_not.find("MPICH_GPU_SUPPORT_ENABLED") != std::string::npos
          ? "export MPICH_GPU_SUPPORT_ENABLED=1, in a program that is linked with Cray's library for GPUs "
            "(libmpi_gtl_cuda)"
          : "an MPI built with CUDA (Open MPI: --with-cuda, and UCX with CUDA; MPICH: --with-cuda) avoids "
            "copies through the host",
      {"between nodes, messages of device memory go through pinned host memory; inside a node there are "
       "none"}};
}

Finding examine_cublas() {
  return describe("cuBLAS", report_cublas(), "matrices in device memory cannot be multiplied",
                  "pip install nvidia-cublas, or the CUDA toolkit's package libcublas");
}

Finding examine_cublas_lt() {
  return describe("cuBLASLt", report_cublas_lt(), "products use cuBLAS, with the algorithm that it chooses",
                  "pip install nvidia-cublas, or the CUDA toolkit's package libcublas");
}

Finding examine_cufft() {
  return describe("cuFFT", report_cufft(), "arrays in device memory cannot be transformed",
                  "pip install nvidia-cufft, or the CUDA toolkit's package libcufft");
}

Finding examine_cusolver() {
  return describe("cuSOLVER", report_cusolver(), "matrices in device memory cannot be factorized",
                  "pip install nvidia-cusolver, or the CUDA toolkit's package libcusolver");
}

Finding examine_nccl() {
  return describe("NCCL", report_nccl(), "devices use Partita's own copies and kernels",
                  "pip install nvidia-nccl-cu13, or the CUDA toolkit's package libnccl2");
}

Finding examine_nvshmem() {
  return describe("NVSHMEM", report_nvshmem(), "Partita works without",
                  "optional: pip install nvidia-nvshmem-cu13");
}

}  // namespace partita::tools
