// Transforms along both axes of planes, as plain code: in which order tiles are taken, and what they make.
#include "support/models/lines_here.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::cuda::PlaneOrder;
using kernels::cuda::PlaneTransform;

/// Each tile once, and a column's rows before it: a block that takes the next tile waits for none that is not
/// taken.
TEST(PlaneTransform, EveryRowIsTakenBeforeTheColumnsThatCrossIt) {
  std::mt19937_64 random(11);
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t planes = round % 10 == 0 ? number(1000, 5000) : number(1, 40);
    const std::int64_t row_tiles = number(1, 9), column_tiles = number(0, 9), ahead = number(0, 60);
    const PlaneOrder order(planes, row_tiles, column_tiles, ahead);
    ASSERT_EQ(order.tiles(), planes * (row_tiles + column_tiles));
    ASSERT_LE(order.bands(), PlaneTransform::most_bands);
    std::vector<std::int64_t> done(static_cast<std::size_t>(order.bands()));
    std::int64_t rows = 0, columns = 0, in_bands = 0;
    for (std::int64_t turn = 0; turn < order.tiles(); ++turn) {
      const PlaneOrder::Tile tile = order.at(turn);
      ASSERT_EQ(tile.number, tile.column ? columns : rows);
      ++(tile.column ? columns : rows);
      std::int64_t& of_band = done[static_cast<std::size_t>(order.band_of(tile))];
      if (tile.column) {
        ASSERT_EQ(of_band, order.rows_of_band(order.band_of(tile)));
      } else {
        ++of_band;
      }
    }
    for (std::int64_t band = 0; band < order.bands(); ++band) in_bands += order.rows_of_band(band);
    EXPECT_EQ(in_bands, planes * row_tiles);
    EXPECT_EQ(rows, planes * row_tiles);
  }
}

/// Columns are interleaved with rows from the first planes on: neither at the end alone.
TEST(PlaneTransform, ColumnsFollowTheirRowsAtOnce) {
  const PlaneOrder order(128, 32, 16, 264);
  std::int64_t columns = 0;
  for (std::int64_t turn = 0; turn < order.tiles() / 2; ++turn) columns += order.at(turn).column ? 1 : 0;
  EXPECT_GT(columns, 128 * 16 * 2 / 5);
}

/// [planes][n][n], of whose columns those from `begin` to `end` go into two owners.
template <class Real>
class Planes {
 public:
  using Complex = std::complex<Real>;

  Planes(std::mt19937_64& random, std::int64_t n, std::int64_t planes, std::int64_t begin, std::int64_t end)
      : from_(random_numbers(random, planes * n * n)),
        between_(from_.size()),
        owners_{std::vector<Complex>(from_.size()), std::vector<Complex>(from_.size())},
        counters_(static_cast<std::size_t>(kernels::cuda::counters_of(planes))) {
    LineTransform rows;
    rows.single = sizeof(Real) == sizeof(float);
    rows.length = n;
    rows.from = from_.data();
    rows.from_apart = rows.neighbours = n;
    rows.loops = 1;
    rows.counts[0] = planes;
    rows.from_strides[0] = n * n;
    rows.pieces = 1;
    rows.piece[0] = {0, between_.data(), 1, n, {n * n}};
    LineTransform columns = rows;
    columns.scale = 0.25;
    columns.from = between_.data() + begin;
    columns.from_along = n;
    columns.from_apart = 1;
    columns.neighbours = end - begin;
    columns.pieces = 2;
    const std::int64_t cut = n / 2;
    for (const std::int64_t p : {0, 1})
      columns.piece[p] = {p * cut, owners_[static_cast<std::size_t>(p)].data() + begin, n, 1, {cut * n}};
    what = {rows, columns, counters_.data()};
  }

  /// One after the other.
  void run_apart() const {
    transform_lines_here(what.rows);
    transform_lines_here(what.columns);
  }
  Complex& from(std::int64_t number) { return from_[static_cast<std::size_t>(number)]; }
  /// What the owners have; they have nothing afterwards.
  std::array<std::vector<Complex>, 2> take_results() {
    std::array<std::vector<Complex>, 2> results = owners_;
    for (std::vector<Complex>& owner : owners_) std::ranges::fill(owner, Complex());
    return results;
  }
  const std::vector<Complex>& owner(int number) const { return owners_[static_cast<std::size_t>(number)]; }
  bool counters_are_left_as_found() const {
    return std::ranges::all_of(counters_, [](std::uint32_t counter) { return counter == 0; });
  }

  PlaneTransform what;

 private:
  using LineTransform = kernels::cuda::LineTransform;

  static std::vector<Complex> random_numbers(std::mt19937_64& random, std::int64_t count) {
    std::uniform_real_distribution<double> any(-1, 1);
    std::vector<Complex> numbers(static_cast<std::size_t>(count));
    for (Complex& number : numbers) number = {static_cast<Real>(any(random)), static_cast<Real>(any(random))};
    return numbers;
  }

  std::vector<Complex> from_, between_;
  std::array<std::vector<Complex>, 2> owners_;
  std::vector<std::uint32_t> counters_;
};

template <class Real>
void expect_as_apart(std::int64_t longest) {
  for (std::int64_t n = 2; n <= longest; n *= 2) {
    for (const std::int64_t planes : {1, 3, 10}) {
      for (const std::int64_t ahead : {0, 2, 1000}) {
        std::mt19937_64 random(3), again(3);
        const std::int64_t begin = n / 4, end = n - n / 8;
        Planes<Real> at_once(random, n, planes, begin, end), apart(again, n, planes, begin, end);
        transform_planes_here(at_once.what, ahead);
        apart.run_apart();
        for (const int owner : {0, 1}) EXPECT_EQ(at_once.owner(owner), apart.owner(owner)) << n;
        EXPECT_TRUE(at_once.counters_are_left_as_found());
      }
    }
  }
}

TEST(PlaneTransform, MakesWhatRowsAndThenColumnsMakeInSinglePrecision) {
  expect_as_apart<float>(128);
}

TEST(PlaneTransform, MakesWhatRowsAndThenColumnsMakeInDoublePrecision) {
  expect_as_apart<double>(128);
}

/// Planes of real numbers, in rows with room behind them, as those of complex ones without imaginary parts.
template <class Real>
void expect_half_of_complex(std::int64_t longest) {
  using Complex = std::complex<Real>;
  constexpr auto rounding = static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (std::int64_t n = PlaneTransform::shortest_of_reals; n <= longest; n *= 2) {
    for (const std::int64_t planes : {1, 3}) {
      for (const bool even : {false, true}) {
        std::mt19937_64 random(7);
        const std::int64_t begin = even ? 2 : 0, end = even ? n / 4 : n / 2 + 1;
        Planes<Real> all(random, n, planes, begin, end);
        const std::int64_t row = n + 3, spectrum = n / 2 + 4;
        std::vector<Real> reals(static_cast<std::size_t>(planes * n * row));
        std::vector<Complex> between(static_cast<std::size_t>(planes * n * spectrum));
        for (std::int64_t line = 0; line < planes * n; ++line) {
          for (std::int64_t i = 0; i < n; ++i) {
            Complex& number = all.from(line * n + i);
            reals[static_cast<std::size_t>(line * row + i)] = number.real();
            number.imag(0);
          }
        }
        all.run_apart();
        const std::array<std::vector<Complex>, 2> wanted = all.take_results();
        PlaneTransform what = all.what;
        what.rows.of_reals = true;
        what.rows.from = reals.data();
        what.rows.neighbours = n / 2;
        what.rows.from_pair = row;
        what.rows.from_apart = 2 * row;
        what.rows.from_strides[0] = n * row;
        what.rows.to_pair = spectrum;
        what.rows.piece[0] = {0, between.data(), 1, 2 * spectrum, {n * spectrum}};
        what.columns.from = between.data() + begin;
        what.columns.from_along = spectrum;
        what.columns.from_strides[0] = n * spectrum;
        transform_planes_here(what);
        for (const int owner : {0, 1}) {
          double difference = 0, size = 0;
          for (std::size_t i = 0; i < wanted[0].size(); ++i) {
            const Complex is = all.owner(owner)[i], should_be = wanted.at(static_cast<std::size_t>(owner))[i];
            difference += std::norm(std::complex<double>(is - should_be));
            size += std::norm(std::complex<double>(should_be));
          }
          EXPECT_LT(std::sqrt(difference / size), rounding * std::log2(4.0 * static_cast<double>(n * n)))
              << n;
        }
      }
    }
  }
}

TEST(PlaneTransform, MakesHalfSpectraOfRealsInSinglePrecision) {
  expect_half_of_complex<float>(256);
}

TEST(PlaneTransform, MakesHalfSpectraOfRealsInDoublePrecision) {
  expect_half_of_complex<double>(128);
}

}  // namespace
}  // namespace partita::testing
