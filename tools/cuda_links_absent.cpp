#include "tools/cuda_links.hpp"

namespace partita::tools {

Links measure_links(int /*devices*/) {
  return {};
}

}  // namespace partita::tools
