#include <partita/device_report.hpp>

namespace partita {

LibraryReport report_cublas_lt() {
  return {0, "", "this build has no devices"};
}

}  // namespace partita
