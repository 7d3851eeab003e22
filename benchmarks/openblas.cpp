#include "benchmarks/openblas.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <partita/error.hpp>
#include <partita/machine_report.hpp>

#include "benchmarks/peer_symbol.hpp"

namespace partita::benchmarks {
namespace {

OpenBlas open() {
  const BlasReport report = report_blas(false);
  if (!report.found) throw UnsupportedError(report.note);
  void* handle = ::dlopen(report.path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  if (handle == nullptr) throw UnsupportedError(report.path + " was opened and is not there");
  OpenBlas library;
  find_symbol(handle, "OpenBLAS", "dgemm_", library.dgemm);
  find_symbol(handle, "OpenBLAS", "dgemv_", library.dgemv);
  find_symbol(handle, "OpenBLAS", "openblas_set_num_threads", library.set_threads);
  library.core_type = report.core_type;
  library.handle = handle;
  return library;
}

}  // namespace

void OpenBlas::multiply(int m, int n, int k, const double* a, const double* b, double* c) const {
  const double one = 1;
  const double zero = 0;
  const int leading_a = std::max(1, m);
  const int leading_b = std::max(1, k);
  dgemm("N", "N", &m, &n, &k, &one, a, &leading_a, b, &leading_b, &zero, c, &leading_a);
}

void OpenBlas::multiply(int m, int n, const double* a, const double* x, double* y) const {
  const double one = 1;
  const double zero = 0;
  const int leading = std::max(1, n), step = 1;
  dgemv("T", &n, &m, &one, a, &leading, x, &step, &zero, y, &step);
}

const OpenBlas& openblas() {
  static const OpenBlas library = open();
  return library;
}

}  // namespace partita::benchmarks
