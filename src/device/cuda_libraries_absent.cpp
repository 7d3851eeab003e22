#include <partita/device_report.hpp>

namespace partita {
namespace {

LibraryReport no_devices() {
  return {0, "", "this build has no devices"};
}

}  // namespace

LibraryReport report_cublas() {
  return no_devices();
}
LibraryReport report_cublas_lt() {
  return no_devices();
}
LibraryReport report_cufft() {
  return no_devices();
}
LibraryReport report_cusolver() {
  return no_devices();
}

}  // namespace partita
