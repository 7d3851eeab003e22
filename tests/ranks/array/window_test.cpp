// Sub-arrays: parts of local parts, seen through a layout's window.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t rows = 23;
constexpr std::int64_t columns = 17;

double value(std::int64_t i, std::int64_t j) {
  return static_cast<double>(100 * i + j);
}

/// The local part of an array of numbers of global indices, column-major with two canaries below each column.
struct Local {
  static constexpr std::int64_t gap = 2;
  Layout layout;
  int rank;
  Shape extents;
  std::int64_t leading;
  std::vector<double> values;

  Local(const Layout& whole, int my_rank)
      : layout(whole),
        rank(my_rank),
        extents(whole.local_shape(my_rank)),
        leading(extents[0] + gap),
        values(static_cast<std::size_t>(leading * std::max<std::int64_t>(extents[1], 1)), -1.0) {
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      for (std::int64_t j = 0; j < extents[1]; ++j) {
        const Index global = layout.to_global(rank, {i, j});
        values[static_cast<std::size_t>(i + j * leading)] = value(global[0], global[1]);
      }
    }
  }

  /// This rank's part of the window, inside the local part.
  View window(const Index& lower, const Layout& part) {
    const Region mine = layout.region(rank);
    const Shape shape = part.local_shape(rank);
    View view{values.data(), Dtype::f64, shape, {1, leading}};
    if (volume(shape) == 0) return view;
    const std::int64_t row = mine.sets[0].position(lower[0]);
    const std::int64_t column = mine.sets[1].position(lower[1]);
    view.data = values.data() + row + column * leading;
    return view;
  }
};

std::vector<Distribution> rules(int ranks) {
  return {Slab(0), Slab(1), BlockCyclic({1, ranks}, {3, 2}), BlockCyclic({ranks, 1}, {4, 5}),
          BlockNonCyclic({ranks, 1})};
}

Operand strided(const Layout& layout) {
  Operand operand = Operand::of(layout, Dtype::f64, Order::column_major);
  operand.dense = false;
  return operand;
}

RANK_TEST(Window, OfWrappedMemoryIsRedistributedWithoutACopy) {
  for (const Distribution& rule : rules(context.size())) {
    for (const Index& lower : {Index{0, 0}, Index{5, 3}, Index{22, 0}}) {
      const Layout whole(rule, {rows, columns}, context.size());
      const Shape shape{rows - lower[0], columns - lower[1] - 2};
      const Layout part = whole.window(lower, shape);
      Local local(whole, context.rank());
      const Array array = wrap(context, local.window(lower, part), strided(part));
      const Array everywhere = redistribute(array, Replicated());
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j) {
          ASSERT_EQ(everywhere.data<double>()[i * shape[1] + j], value(lower[0] + i, lower[1] + j))
              << part.to_string();
        }
      }
    }
  }
}

RANK_TEST(Window, IsWrittenAndNothingAroundIt) {
  for (const Distribution& rule : rules(context.size())) {
    const Layout whole(rule, {rows, columns}, context.size());
    const Index lower{4, 5};
    const Shape shape{11, 9};
    const Layout part = whole.window(lower, shape);
    Local local(whole, context.rank());
    std::vector<double> expected = local.values;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        const auto place = whole.to_local(context.rank(), {lower[0] + i, lower[1] + j});
        if (place) expected[static_cast<std::size_t>((*place)[0] + (*place)[1] * local.leading)] = 7;
      }
    }
    Array source = empty(context, shape, Slab(1), Dtype::f64);
    fill(source, 7.0);
    Array destination = wrap(context, local.window(lower, part), strided(part));
    redistribute(source, destination);
    EXPECT_EQ(local.values, expected) << part.to_string();
  }
}

RANK_TEST(Window, KeepsItsPlaceInALargerContext) {
  const Layout whole(Slab(0), {rows, columns}, context.size());
  const Index lower{3, 2};
  const Shape shape{15, 10};
  const Layout part = whole.window(lower, shape);
  Local local(whole, context.rank());
  std::vector<int> reversed(static_cast<std::size_t>(context.size()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const Context inner = context.subgroup(reversed);
  Local inner_local(whole, inner.rank());
  const Array array = wrap(inner, inner_local.window(lower, part), part);
  const Array seen = embed(context, array, reversed);
  EXPECT_EQ(seen.layout(), part.embedded(reversed, context.size()));
  const Array everywhere = redistribute(seen, Replicated());
  EXPECT_EQ(everywhere.data<double>()[shape[1] + 1], value(lower[0] + 1, lower[1] + 1));
}

RANK_TEST(Window, WrapRefusesWhatDoesNotSuitTheOperand) {
  const Layout layout(Slab(0), {4, 4}, context.size());
  std::vector<double> memory(16);
  const View local = View::dense(memory.data(), Dtype::f64, layout.local_shape(context.rank()));
  Operand operand = Operand::of(layout, Dtype::f64);
  EXPECT_TRUE(wrap(context, local, operand).valid());
  operand.dtype = Dtype::f32;
  EXPECT_ERROR(ArgumentError, wrap(context, local, operand));
  operand = Operand::of(layout, Dtype::f64, Order::row_major, Residency::heap);
  EXPECT_ERROR(ArgumentError, wrap(context, local, operand));
  operand = Operand::of(Layout(Slab(0), {40, 4}, context.size()), Dtype::f64);
  EXPECT_ERROR(ArgumentError, wrap(context, local, operand));
  operand = Operand::of(Layout(Slab(0), {4, 4}, context.size() + 1), Dtype::f64);
  EXPECT_ERROR(ArgumentError, wrap(context, local, operand));
  operand = Operand::of(layout, Dtype::f64, Order::column_major);
  if (context.size() == 1) EXPECT_ERROR(ArgumentError, wrap(context, local, operand));
}

}  // namespace
}  // namespace partita::testing
