// Elements by their global indices, on the host or (PARTITA_TEST_DEVICE) on devices.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

std::vector<Distribution> some_rules(int ranks) {
  const Extents none{0, 0, 0};
  std::vector<Box::Bounds> last(static_cast<std::size_t>(ranks), {none, none});
  last.back().upper = {7, 5, 4};
  return {
      Slab(0),      Slab(2),  BlockCyclic({1, ranks, 1}, {3, 2, 4}), BlockCyclic({ranks, 1, 1}, {1, 1, 1}),
      Replicated(), Box(last)};
}

double number_of(const Index& index) {
  return static_cast<double>(index[0] * 100 + index[1] * 10 + index[2]);
}

/// What stands at a row-major number of a 7x5x4 array that was filled by number_of.
double number_at(std::int64_t number) {
  return number_of({number / 20, number / 4 % 5, number % 4});
}

RANK_TEST(Elements, AreFilledByTheirIndex) {
  for (const Distribution& rule : some_rules(context.size())) {
    const Layout layout(rule, {7, 5, 4}, context.size());
    for (int memory = 0; memory < 5; ++memory) {
      Wrapped wrapped = make_array(context, layout, Dtype::f64, memory);
      fill(wrapped.array, number_of);
      EXPECT_EQ(count_others(wrapped.array, number_at), 0) << layout << memory;
      fill(wrapped.array, [](const Index&) { return 1.0; });
      EXPECT_EQ(count_others(wrapped.array, number_at) > 0, wrapped.array.local_size() > 0);
      EXPECT_THROW(fill(wrapped.array, [](const Index&) { return 1; }), ArgumentError);
    }
  }
}

RANK_TEST(Elements, OfAScalarAndOfNothing) {
  Array scalar = empty(context, Shape{}, Replicated(), Dtype::i32);
  fill(scalar, [](const Index& index) { return 40 + index.size(); });
  EXPECT_EQ(at<int>(scalar, {}), 40);
  Array none = empty(context, {0, 5}, Slab(1), Dtype::i32);
  fill(none, [](const Index&) { return ADD_FAILURE(), 1; });
}

RANK_TEST(Elements, AreWalkedOverAsTheyLie) {
  for (const Order order : {Order::row_major, Order::column_major}) {
    const Array array = zeros(context, {6, 5}, BlockCyclic({1, context.size()}, {2, 1}), Dtype::i64,
                              {.residency = Residency::ordinary, .order = order, .space = MemorySpace::host});
    const std::int64_t* next = array.data<std::int64_t>();
    for_each_local<std::int64_t>(array, [&](const Index& index, std::int64_t& element) {
      EXPECT_EQ(&element, next++);
      const auto local = array.layout().to_local(context.rank(), index);
      ASSERT_TRUE(local.has_value());
      const Strides& strides = array.local().strides;
      EXPECT_EQ(&element - array.data<std::int64_t>(), (*local)[0] * strides[0] + (*local)[1] * strides[1]);
    });
    EXPECT_EQ(next - array.data<std::int64_t>(), array.local_size());
    EXPECT_THROW(for_each_local<double>(array, [](const Index&, double&) {}), ArgumentError);
    EXPECT_EQ(local_indices(array, 1), local_indices(array.layout(), 1, context.rank()));
  }
}

RANK_TEST(Elements, AreReadOnEveryRankAndSetOnTheirHolders) {
  for (const Distribution& rule : some_rules(context.size())) {
    const Layout layout(rule, {7, 5, 4}, context.size());
    for (const int memory : {0, 2, 3}) {
      Wrapped wrapped = make_array(context, layout, Dtype::f64, memory);
      fill(wrapped.array, number_of);
      for (const Index& index : {Index{0, 0, 0}, Index{6, 4, 3}, Index{3, 2, 1}})
        EXPECT_EQ(at<double>(wrapped.array, index), number_of(index));
      set_at(wrapped.array, {3, 2, 1}, -2.5);
      EXPECT_EQ(at<double>(wrapped.array, {3, 2, 1}), -2.5);
      EXPECT_EQ(at<double>(wrapped.array, {3, 2, 2}), 322);
      set_at(wrapped.array, {3, 2, 1}, 321.0);
      EXPECT_EQ(count_others(wrapped.array, number_at), 0);
    }
  }
}

RANK_TEST(Elements, ThatAreNotThereAreErrorsOnEveryRank) {
  Array array = zeros(context, {7, 5}, Slab(0), Dtype::f32);
  const auto refused = [&](const Index& index, const std::string& what) {
    EXPECT_ERROR_ON_ALL(ArgumentError, at<float>(array, index), what);
    EXPECT_ERROR(ArgumentError, set_at(array, index, 1.0F), what);
  };
  refused({7, 0}, "index 7 along dimension 0 of an array 7x5");
  refused({0, -1}, "index -1 along dimension 1");
  refused({0}, "1 dimensions in an array of 2");
  EXPECT_THROW((void)at<double>(array, {0, 0}), ArgumentError);
  EXPECT_THROW(set_at(array, {0, 0}, 1), ArgumentError);
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(DisagreementError, at<float>(array, {context.rank() == 0, 0}));
  }
  const std::string mesh = "mesh:x=" + std::to_string(context.size()) + ":-;partial=sum:x";
  const Array partial = zeros(context, {3}, Distribution::parse(mesh), Dtype::f32);
  if (context.size() > 1) {
    EXPECT_ERROR(ArgumentError, at<float>(partial, {0}), "redistribute");
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
