#include "tools/doctor.hpp"

namespace partita::tools {

Links measure_links(int /*devices*/) {
  return {};
}

}  // namespace partita::tools
