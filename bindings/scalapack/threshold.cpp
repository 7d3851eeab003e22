#include "threshold.hpp"

#include <cstdlib>
#include <partita/error.hpp>
#include <string>

namespace partita::scalapack {

namespace {

/// What all thresholds are multiplied by. Environment: PARTITA_SCALAPACK_THRESHOLD, a number; 0: everything
/// that can be is computed here. Throws ArgumentError if it is not a number.
double threshold_factor() {
  static const double factor = [] {
    const char* const text = std::getenv("PARTITA_SCALAPACK_THRESHOLD");
    if (text == nullptr || *text == '\0') return 1.0;
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    if (*end == '\0' && number >= 0) return number;
    throw ArgumentError(std::string("PARTITA_SCALAPACK_THRESHOLD is \"") + text +
                        "\"; it must be a number, 0 or more");
  }();
  return factor;
}

}  // namespace

bool is_large(double size, double smallest) {
  return size >= threshold_factor() * smallest;
}

bool is_tried_product(double size) {
  const double factor = threshold_factor();
  return size >= factor * product_threshold.smallest && size < factor * largest_tried_product;
}

// FNV-1a over whole numbers.
CallKey& CallKey::add(std::int64_t number) {
  hash_ = (hash_ ^ static_cast<std::uint64_t>(number)) * 0x100000001b3U;
  hash_ ^= hash_ >> 29U;
  return *this;
}

CallKey& CallKey::add(const SubMatrix& matrix) {
  add(matrix.row).add(matrix.column).add(matrix.rows).add(matrix.columns);
  for (const Deal* deal : {&matrix.descriptor.rows, &matrix.descriptor.columns})
    add(deal->extent).add(deal->first_block).add(deal->block).add(deal->source);
  return *this;
}

bool SeenCalls::worth(double size, const Threshold& threshold, const CallKey& key) {
  const double factor = threshold_factor();
  if (size < factor * threshold.smallest) return false;
  if (size >= factor * threshold.worth_planning) return true;
  if (times_.size() == most) times_.clear();
  return times_[key.value()]++ > 0;
}

}  // namespace partita::scalapack
