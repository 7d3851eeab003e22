// Values written to streams: their text.
#include <ostream>
#include <partita/layout.hpp>

namespace partita {

std::ostream& operator<<(std::ostream& stream, const IndexSet& set) {
  return stream << to_string(set);
}
std::ostream& operator<<(std::ostream& stream, const Region& region) {
  return stream << to_string(region);
}
std::ostream& operator<<(std::ostream& stream, const Distribution& distribution) {
  return stream << distribution.to_string();
}
std::ostream& operator<<(std::ostream& stream, const Layout& layout) {
  return stream << layout.to_string();
}

}  // namespace partita
