// Positions of what is true, and rows that are chosen by their positions, of each rank's elements.
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

}  // namespace
}  // namespace partita::testing
