// The places of the largest and smallest elements of parts in any order of memory.
#include "kernels/host/places.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "support/test.hpp"

namespace partita::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// That of a sequence, one after the other.
std::int64_t place_in(const std::vector<double>& line, bool smallest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < line.size() && !std::isnan(line[best]); ++i) {
    if (std::isnan(line[i]) || (smallest ? line[i] < line[best] : line[i] > line[best])) best = i;
  }
  return static_cast<std::int64_t>(best);
}

TEST(Places, AreTheFirstOnesInAnyOrderOfMemory) {
  std::mt19937 random(5);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t lines = number(1, 9), length = round % 10 == 0 ? number(4000, 20000) : number(1, 40);
    const bool columns = number(0, 1) == 0, smallest = number(0, 1) == 0, with_nan = number(0, 2) == 0;
    std::vector<double> elements(static_cast<std::size_t>(lines * length));
    for (double& element : elements) element = with_nan && number(0, 500) == 0 ? nan : number(0, 1000);
    const std::int64_t line_step = columns ? 1 : length, step = columns ? lines : 1;
    std::vector<std::int64_t> places(static_cast<std::size_t>(lines), -1);
    kernels::PlacePass pass;
    pass.smallest = smallest;
    pass.data = {places.data(), elements.data()};
    pass.kept = {{lines, {1, line_step, 0}}};
    pass.over = {{length, {0, step, 0}}};
    kernels::find_places(simplify(pass));
    for (std::int64_t line = 0; line < lines; ++line) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < length; ++i)
        values.push_back(elements[static_cast<std::size_t>(line * line_step + i * step)]);
      ASSERT_EQ(places[static_cast<std::size_t>(line)], place_in(values, smallest))
          << lines << " x " << length;
    }
  }
}

TEST(Places, AreNumberedInRowMajorOrder) {
  const std::vector<std::int8_t> elements{1, 4, 2, 5, 3, 6};  // a 2 x 3 matrix by columns
  std::int64_t place = -1;
  kernels::PlacePass pass;
  pass.dtype = Dtype::i8;
  pass.data = {&place, const_cast<std::int8_t*>(elements.data())};
  pass.over = {{2, {0, 1, 0}}, {3, {0, 2, 0}}};
  kernels::find_places(simplify(pass));
  EXPECT_EQ(place, 5);
  pass.smallest = true;
  pass.over = {{3, {0, 2, 0}}, {2, {0, 1, 0}}};
  kernels::find_places(simplify(pass));
  EXPECT_EQ(place, 0);
}

}  // namespace
}  // namespace partita::testing
