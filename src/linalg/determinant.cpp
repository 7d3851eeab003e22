// What is read off the diagonal of factors.
#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "linalg/diagonal.hpp"
#include "linalg/factors.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

std::int64_t Factors::find_zero() const {
  std::int64_t first = -1;
  runtime::check_or_tell_all(*context_, name(), [&] {
    for (const DiagonalElement& element : local_diagonal(factor_, panels_)) {
      if (element.value == 0.0 && first < 0) first = element.index;
    }
  });
  return first_of_all_ranks(first);
}

std::int64_t Factors::first_of_all_ranks(std::int64_t index) const {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const auto all = runtime::exchange_values(*context_, name(), index < 0 ? none : index);
  const std::int64_t least = *std::ranges::min_element(all);
  return least == none ? -1 : least;
}

namespace {

/// A factor of a determinant.
struct PartialDeterminant {
  std::complex<double> sign = 1;
  double log_absolute = 0;

  void multiply(std::complex<double> by) {
    const double size = std::abs(by);
    sign *= size == 0 ? 0 : by / size;
    log_absolute += std::log(size);
  }
};

}  // namespace

LogDeterminant Factors::log_determinant() const {
  require_factorized();
  check(shape()[0] == shape()[1], "slogdet: A must be square, but its shape is {}", to_string(shape()));
  PartialDeterminant mine;
  runtime::check_or_tell_all(*context_, name(), [&] {
    const Array host = kind_ == Factorization::lu ? arrays::on_host(pivots_) : Array();
    for (const auto& [index, value] : local_diagonal(factor_, panels_)) {
      mine.multiply(kind_ == Factorization::cholesky ? value * value : value);
      if (host.valid() && host.data<std::int32_t>()[index] != index % panels_.width) mine.sign = -mine.sign;
    }
  });
  LogDeterminant result;
  for (const PartialDeterminant& part : runtime::exchange_values(*context_, name(), mine)) {
    result.sign *= part.sign;
    result.log_absolute += part.log_absolute;
  }
  const double size = std::abs(result.sign);
  if (size > 0) result.sign /= size;
  return result;
}

}  // namespace partita::linear
