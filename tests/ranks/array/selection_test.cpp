// Positions of what is true, elements that are chosen by their positions, searches and counts, of each rank's
// elements.
#include <limits>
#include <numeric>
#include <partita/create.hpp>
#include <partita/functions.hpp>
#include <partita/selection.hpp>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Of this rank, in row-major order.
template <class T>
std::vector<T> elements(const Array& array) {
  const Array here = clone(array, {.space = MemorySpace::host});
  const auto* const first = static_cast<const T*>(here.local().data);
  return {first, first + here.local_size()};
}

RANK_TEST(Selection, PositionsOfWhatIsTrueAndTheirRows) {
  for (const std::int64_t rows : {0, 1, 7, 200}) {
    Array a = empty(context, {rows, 3}, Slab(0));
    fill(a, [](const Index& index) { return static_cast<double>((index[0] * 7 + index[1] * 5) % 11); });
    const Array mask = a > 5.0;
    const std::vector<double> given = elements<double>(a);
    std::vector<std::int64_t> wanted;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i] > 5) wanted.push_back(static_cast<std::int64_t>(i));
    }
    const Array positions = true_positions(mask);
    ASSERT_EQ(positions.local_size(), static_cast<std::int64_t>(wanted.size()));
    EXPECT_EQ(positions.dtype(), Dtype::i64);
    if (a.local_size() == 0) continue;
    Array order = empty_beside(a, Layout(Replicated{}, {a.local_shape()[0]}, context.size()), Dtype::i64);
    std::vector<std::int64_t> backwards(static_cast<std::size_t>(a.local_shape()[0]));
    std::iota(backwards.rbegin(), backwards.rend(), std::int64_t{0});
    copy(View::dense(backwards.data(), Dtype::i64, order.local_shape()), order);
    Array turned = empty_beside(a, a.layout(), Dtype::f64);
    gather_part(a, order, turned);
    Array found = empty_beside(a, a.layout(), Dtype::f64);
    gather_part(turned, order, found);
    std::vector<double> again(given.size()), once(given.size());
    copy(found, View::dense(again.data(), Dtype::f64, a.local_shape()));
    copy(turned, View::dense(once.data(), Dtype::f64, a.local_shape()));
    EXPECT_EQ(again, given);
    for (std::size_t row = 0; row < backwards.size(); ++row)
      EXPECT_EQ(once[3 * row], given[3 * (backwards.size() - 1 - row)]);
    if (wanted.empty()) continue;
    std::vector<std::int64_t> places(wanted.size());
    copy(positions, View::dense(places.data(), Dtype::i64, positions.local_shape()));
    EXPECT_EQ(places, wanted);
  }
}

RANK_TEST(Selection, Errors) {
  Array a = zeros(context, {4, 3}, Replicated()), b = zeros(context, {2, 3}, Replicated());
  const Array two = zeros(context, {2}, Replicated(), Dtype::i64);
  EXPECT_THROW((void)true_positions(a), ArgumentError);
  EXPECT_THROW((void)true_positions(transpose(a > 1.0)), ArgumentError);
  EXPECT_THROW(gather_part(a, zeros(context, {3}, Replicated(), Dtype::i64), b), ArgumentError);
  EXPECT_THROW(gather_part(a, zeros(context, {2}, Replicated(), Dtype::i32), b), ArgumentError);
  Array other = zeros(context, {2, 3}, Replicated(), Dtype::f32),
        wider = zeros(context, {2, 4}, Replicated());
  EXPECT_THROW(gather_part(a, two, other), ArgumentError);
  EXPECT_THROW(gather_part(a, two, wider), ArgumentError);
  EXPECT_THROW(gather_part(b, two, b), ArgumentError);
  gather_part(a, two, b);
}

/// A sequence of this rank's, in the memory of `model`.
template <class T>
Array beside(const Array& model, std::vector<T> values, Extents extents = {}) {
  if (extents.empty()) extents = {static_cast<std::int64_t>(values.size())};
  const Dtype dtype = dtype_of<T>();
  Array made = empty_beside(model, Layout(Replicated{}, extents, model.context().size()), dtype);
  copy(View::dense(values.data(), dtype, extents), made);
  return made;
}

RANK_TEST(Selection, ElementsOfIndicesAlongAnAxis) {
  Array a = empty(context, {3, 4, 2}, Replicated(), Dtype::i32);
  fill(a, [](const Index& index) {
    return static_cast<std::int32_t>(100 * index[0] + 10 * index[1] + index[2]);
  });
  Array rows = empty_beside(a, Layout(Replicated{}, {3, 3, 2}, context.size()), Dtype::i32);
  const Array index = beside<std::int64_t>(a, {3, -4, 1}), far = beside<std::int64_t>(a, {7, -9, 1});
  const auto expect = [&](const std::vector<std::int32_t>& first) {
    const std::vector<std::int32_t> found = elements<std::int32_t>(rows);
    for (std::int32_t i = 0; i < 3; ++i) {
      for (std::int32_t j = 0; j < 3; ++j) {
        for (std::int32_t k = 0; k < 2; ++k)
          EXPECT_EQ(found[static_cast<std::size_t>(6 * i + 2 * j + k)],
                    100 * i + 10 * first[static_cast<std::size_t>(j)] + k);
      }
    }
  };
  EXPECT_TRUE(take_part(a, index, rows, 1));
  expect({3, 0, 1});
  EXPECT_TRUE(take_part(a, far, rows, 1, OutOfRange::wrap));
  expect({3, 3, 1});
  EXPECT_TRUE(take_part(a, far, rows, 1, OutOfRange::clip));
  expect({3, 0, 1});
  EXPECT_FALSE(take_part(a, far, rows, 1));
  Array own = empty_beside(a, Layout(Replicated{}, {3, 1, 2}, context.size()), Dtype::i32);
  EXPECT_TRUE(take_part(a, beside<std::int64_t>(a, {0, 1, 2, 3, -1, -2}, {3, 1, 2}), own, 1));
  EXPECT_EQ(elements<std::int32_t>(own), (std::vector<std::int32_t>{0, 11, 120, 131, 230, 221}));
  EXPECT_THROW((void)take_part(a, index, rows, 3), ArgumentError);
  EXPECT_THROW((void)take_part(a, index, rows, 0), ArgumentError);
  EXPECT_THROW((void)take_part(a, beside<std::int64_t>(a, {1, 2}), rows, 1), ArgumentError);
  EXPECT_THROW((void)take_part(a, beside<std::int32_t>(a, {1, 2, 3}), rows, 1), ArgumentError);
  const Array nothing = empty_beside(a, Layout(Replicated{}, {3, 0, 2}, context.size()), Dtype::i32);
  EXPECT_THROW((void)take_part(nothing, index, rows, 1), ArgumentError);
  Array none = empty_beside(a, Layout(Replicated{}, {3, 0, 2}, context.size()), Dtype::i32);
  EXPECT_TRUE(take_part(nothing, beside<std::int64_t>(a, {}), none, 1));
}

RANK_TEST(Selection, PlacesInSortedElements) {
  const Array model = zeros(context, {1}, Replicated());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array sorted = beside<double>(model, {-1, 2, 2, 5, nan}),
              values = beside<double>(model, {2, nan, -7, 5, 6, 2.5});
  Array places = beside<std::int64_t>(model, std::vector<std::int64_t>(6));
  search_part(sorted, values, places);
  EXPECT_EQ(elements<std::int64_t>(places), (std::vector<std::int64_t>{1, 4, 0, 3, 4, 3}));
  search_part(sorted, values, places, true);
  EXPECT_EQ(elements<std::int64_t>(places), (std::vector<std::int64_t>{3, 5, 0, 4, 4, 3}));
  Array there = empty_beside(model, places.layout(), Dtype::boolean);
  search_part(sorted, values, there);
  EXPECT_EQ(elements<std::uint8_t>(there), (std::vector<std::uint8_t>{1, 0, 0, 1, 0, 0}));
  search_part(beside<double>(model, {}), values, places);
  EXPECT_EQ(elements<std::int64_t>(places), std::vector<std::int64_t>(6));
  search_part(sorted, beside<float>(model, {2, 9, -7, 5, 6, 2.5}), places);
  EXPECT_EQ(elements<std::int64_t>(places), (std::vector<std::int64_t>{1, 4, 0, 3, 4, 3}));
  const Array whole = beside<std::int64_t>(model, {-1, 2, 2, 5});
  search_part(whole, beside<std::int32_t>(model, {2, 9, -7, 5, 6, 3}), places);
  EXPECT_EQ(elements<std::int64_t>(places), (std::vector<std::int64_t>{1, 4, 0, 3, 4, 3}));
  EXPECT_THROW(search_part(whole, values, places), ArgumentError);
  EXPECT_THROW(search_part(sorted, beside<float>(model, {1}), places), ArgumentError);
  EXPECT_THROW(search_part(sorted, sorted, places), ArgumentError);
  Array other = beside<double>(model, std::vector<double>(6));
  EXPECT_THROW(search_part(sorted, values, other), ArgumentError);
}

RANK_TEST(Selection, CountsInBins) {
  const Array model = zeros(context, {1}, Replicated());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array a = beside<double>(model, {0, 1, 0.5, 3, nan, 2.9, -1, 7, 2, 1});
  const Array weights = beside<double>(model, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  Array counts = beside<std::int64_t>(model, {-1, -1, -1}), sums = beside<double>(model, {-1, -1, -1});
  const Array edges = beside<double>(model, {0, 1, 2, 3});
  count_part(a, edges, counts);
  EXPECT_EQ(elements<std::int64_t>(counts), (std::vector<std::int64_t>{2, 2, 3}));
  count_part(a, edges, weights, sums);
  EXPECT_EQ(elements<double>(sums), (std::vector<double>{5, 514, 296}));
  count_part(a, beside<double>(model, {0, 1, 1, 1}), counts);
  EXPECT_EQ(elements<std::int64_t>(counts), (std::vector<std::int64_t>{2, 0, 2}));
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const Array integers = beside<std::int64_t>(model, {0, 2, large, -1, 2, 3});
  count_part(integers, beside<std::int64_t>(model, {0, 3, large - 1, large}), counts);
  EXPECT_EQ(elements<std::int64_t>(counts), (std::vector<std::int64_t>{3, 1, 1}));
  count_part(integers, Array(), counts);
  EXPECT_EQ(elements<std::int64_t>(counts), (std::vector<std::int64_t>{1, 0, 2}));
  count_part(beside<std::int64_t>(model, {}), Array(), counts);
  EXPECT_EQ(elements<std::int64_t>(counts), std::vector<std::int64_t>(3));
  EXPECT_THROW(count_part(a, Array(), counts), ArgumentError);
  EXPECT_THROW(count_part(a, beside<double>(model, {0, 1}), counts), ArgumentError);
  EXPECT_THROW(count_part(a, beside<std::int64_t>(model, {0, 1, 2, 3}), counts), ArgumentError);
  EXPECT_THROW(count_part(a, edges, edges, sums), ArgumentError);
  EXPECT_THROW(count_part(a, edges, weights, counts), ArgumentError);
  EXPECT_THROW(count_part(zeros(context, {2}, Replicated(), Dtype::c64), edges, counts), UnsupportedError);
}

}  // namespace
}  // namespace partita::testing
