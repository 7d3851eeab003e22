#include "threshold.hpp"

#include <cstdlib>

namespace partita::scalapack {
namespace {

constexpr double measured = 4e6;

}  // namespace

double smallest_product() {
  static const double smallest = [] {
    const char* const text = std::getenv("PARTITA_SCALAPACK_SMALLEST");
    if (text == nullptr || *text == '\0') return measured;
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    return *end == '\0' && number >= 0 ? number : measured;
  }();
  return smallest;
}

}  // namespace partita::scalapack
