// BLAS and FFT: opened by name, as the library itself opens them.
#include <fmt/format.h>

#include <partita/machine_report.hpp>

#include "tools/doctor.hpp"

namespace partita::tools {

Finding examine_blas() {
  const BlasReport report = report_blas();
  if (!report.found)
    return {"BLAS",
            Health::missing,
            report.note,
            "pip install scipy-openblas32, or apt-get install libopenblas0-pthread",
            {"redistribution works without it; matrix products do not"}};
  Finding finding{"BLAS", Health::ok,
                  fmt::format("{} kernels, {:.0f} GF/s on one core in double precision", report.core_type,
                              report.flops_per_second / 1e9)};
  finding.details = {report.path, report.configuration};
  if (!report.chosen_core_type.empty()) {
    finding.details.push_back(fmt::format(
        "Partita chose the core type {} from cpuid before the library was opened", report.chosen_core_type));
  }
  if (!report.note.empty()) finding.warn(report.note);
  return finding;
}

Finding examine_fft() {
  const FftReport report = report_fft();
  if (!report.found)
    return {"FFT",
            Health::missing,
            report.note,
            "pip install pyfftw, or apt-get install libfftw3-double3 libfftw3-single3",
            {"redistribution works without it; Fourier transforms do not"}};
  Finding finding{"FFT", Health::ok, report.version, "", {report.path}};
  const FftReport single = report_fft(true);
  if (!single.found) {
    finding.details.push_back("not in single precision: " + single.note);
    finding.warn("pip install pyfftw, or apt-get install libfftw3-single3");
  } else if (single.path != report.path) {
    finding.details.push_back(single.path);
  }
  return finding;
}

}  // namespace partita::tools
