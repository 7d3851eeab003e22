#include "support/models/array_model.hpp"

namespace partita::testing {
namespace {

/// Bytes, not values: memory that was never written may hold no valid ones.
std::vector<char> bytes_of(const arrays::ElementRow& row, std::int64_t size) {
  std::vector<char> bytes;
  const char* at = row.first;
  for (std::size_t i = 0; i < row.numbers.size(); ++i, at += row.stride)
    bytes.insert(bytes.end(), at, at + size);
  return bytes;
}

}  // namespace

void visit_rows(const Array& array, const arrays::RowBody& body) {
  const Array part = arrays::on_host(array);
  const std::int64_t size = size_of(array.dtype());
  bool changed = false;
  arrays::for_each_row(part.local(), part.layout(), part.context_state()->rank(),
                       [&](const arrays::ElementRow& row) {
                         const std::vector<char> before = bytes_of(row, size);
                         body(row);
                         changed = changed || before != bytes_of(row, size);
                       });
  Array target = array;
  if (changed && part.state() != array.state()) copy(part, target);
}

int contribution_of(const Layout& layout, int rank) {
  const Region mine = layout.region(rank);
  if (mine.empty()) return -1;
  const std::vector<Layout::Cell> cells = layout.cells(mine);
  const auto& contributions = cells.at(0).contributions;
  for (std::size_t c = 0; c < contributions.size(); ++c) {
    if (std::find(contributions[c].begin(), contributions[c].end(), rank) != contributions[c].end()) {
      return static_cast<int>(c);
    }
  }
  return -1;
}

int contribution_count(const Layout& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!region.empty()) return static_cast<int>(layout.cells(region).at(0).contributions.size());
  }
  return 1;
}

void write_values(Array& array, const ValueOfNumber& value) {
  each_element(array, [&](std::int64_t number, auto& element) {
    element = make_value<std::decay_t<decltype(element)>>(value(number));
  });
}

void write_constant(Array& array, double value) {
  write_values(array, [value](std::int64_t) { return value; });
}

void write_known(Array& array, int round) {
  const int contribution = std::max(0, contribution_of(array.layout(), array.context_state()->rank()));
  write_values(array, [&](std::int64_t number) { return known_value(number, contribution, round); });
}

std::int64_t count_others(const Array& array, const ValueOfNumber& value) {
  std::int64_t others = 0;
  each_element(array, [&](std::int64_t number, const auto& element) {
    if (!same_value(element, make_value<std::decay_t<decltype(element)>>(value(number)))) ++others;
  });
  return others;
}

std::int64_t count_others(const Array& array, double value) {
  return count_others(array, [value](std::int64_t) { return value; });
}

std::int64_t source_number(std::int64_t number, const Shape& result, const Shape& source,
                           const std::vector<int>& axes) {
  if (axes.empty()) return number;
  const Strides of_result = dense_strides(result);
  const Strides of_source = dense_strides(source);
  std::int64_t sum = 0;
  for (int i = 0; i < result.size(); ++i) {
    const std::int64_t index = number / of_result[i] % std::max<std::int64_t>(result[i], 1);
    sum += index * of_source[axes[static_cast<std::size_t>(i)]];
  }
  return sum;
}

std::int64_t count_wrong(const Array& result, const Layout& source, const std::vector<int>& axes, int round) {
  const int contributions = contribution_count(source);
  const Reduction reduction = source.partial() ? source.partial()->reduction : Reduction::sum;
  const Layout wanted = axes.empty() ? source : source.permuted(axes);
  const bool kept = result.layout().partial() && wanted.equivalent(result.layout());
  const int rank = result.context().rank();
  const int mine = contribution_of(result.layout(), rank);
  // Equivalent layouts may number them otherwise: meshes list their ranks.
  const int given = kept ? contribution_of(wanted, rank) : 0;
  std::int64_t wrong = 0;
  each_element(result, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    const std::int64_t origin = source_number(number, result.shape(), source.shape(), axes);
    T expected = joined_value<T>(origin, contributions, reduction, round);
    if (kept) {
      expected = make_value<T>(known_value(origin, given, round));
    } else if (mine > 0) {
      write_identity(result.layout().partial()->reduction, result.dtype(), &expected);
    }
    if (!same_value(element, expected)) ++wrong;
  });
  return wrong;
}

}  // namespace partita::testing
