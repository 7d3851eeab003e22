#include <partita/device_report.hpp>

namespace partita {

LibraryReport report_cusolver() {
  return {0, "", "this build has no devices"};
}

}  // namespace partita
