// Halo::accumulate: each element is what stands in it and in all ghost cells that are its own.
#include "support/models/halo_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Boxes between cut points in up to three dimensions, uneven and some of them empty; slabs.
Layout random_parts(std::mt19937& random, int ranks) {
  const int dimensions = 1 + static_cast<int>(random() % 3);
  Shape shape;
  for (int d = 0; d < dimensions; ++d) shape.push_back(1 + static_cast<std::int64_t>(random() % 9));
  if (random() % 2 == 0) return {Slab(static_cast<int>(random() % 3) % dimensions), shape, ranks};
  const int rows = dimensions > 1 && ranks % 2 == 0 ? 2 : 1;
  std::vector<std::vector<std::int64_t>> cuts;
  for (int d = 0; d < dimensions; ++d) {
    std::vector<std::int64_t> points{0, shape[d]};
    for (int i = 1; i < (d == 0 ? ranks / rows : d == 1 ? rows : 1); ++i) {
      points.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(shape[d] + 1)));
    }
    std::sort(points.begin(), points.end());
    cuts.push_back(points);
  }
  return {Box::from_cuts(cuts), shape, ranks};
}

/// What a rank has deposited into a cell: 0 or 1, so that sums are exact in any dtype.
int deposited(int rank, const Index& cell) {
  std::int64_t number = 3 * rank + 1;
  for (const std::int64_t i : cell) number = 5 * number + i;
  return static_cast<int>(number % 3 % 2);
}

void deposit(Block& extended, int rank) {
  const View& view = extended.view();
  for_each_index(view.extents, [&](const Index& cell) {
    write_number(view.dtype, extended.at(cell), deposited(rank, cell));
  });
  extended.upload();
}

/// By the definition: every cell of every rank, once for each element that it represents.
std::vector<double> sums(const Layout& layout, const HaloOptions& options) {
  std::vector<double> result(static_cast<std::size_t>(volume(layout.shape())));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Shape extended = halo_shape(layout, rank, options);
    if (volume(extended) == 0) continue;
    const Index corner = corner_of(layout, rank);
    for_each_index(extended, [&](const Index& cell) {
      const auto global = global_of(layout, corner, options, cell);
      if (!global) return;
      std::int64_t at = 0;
      for (int d = 0; d < cell.size(); ++d) at = at * layout.shape()[d] + (*global)[d];
      result[static_cast<std::size_t>(at)] += deposited(rank, cell);
    });
  }
  return result;
}

/// Of this rank's part, which is in `block` from `corner` on.
std::int64_t wrong_sums(Block& block, const Extents& corner, const Layout& layout, int rank,
                        const std::vector<double>& wanted) {
  block.download();
  std::int64_t wrong = 0;
  if (volume(layout.local_shape(rank)) == 0) return 0;
  const Index first = corner_of(layout, rank);
  for_each_index(layout.local_shape(rank), [&](const Index& index) {
    const Index global = plus(index, first), cell = plus(index, corner);
    std::int64_t at = 0;
    for (int d = 0; d < index.size(); ++d) at = at * layout.shape()[d] + global[d];
    const double expected = wanted[static_cast<std::size_t>(at)];
    const Dtype dtype = block.view().dtype;
    const double number = read_number(dtype, block.at(cell)).real();
    wrong += number != (dtype == Dtype::boolean ? static_cast<double>(expected != 0) : expected);
  });
  return wrong;
}

void check_accumulate(Context& context, const Layout& layout, Dtype dtype, const HaloOptions& options,
                      Memory memory) {
  const int rank = context.rank();
  const std::string text = layout.to_string() + " lower " + to_string(options.lower) + " upper " +
                           to_string(options.upper) + " " + std::string(name(dtype));
  const std::vector<double> wanted = sums(layout, options);
  const Extents none = Extents::filled(layout.dimensions(), 0);
  Operand operand = Operand::of(layout, dtype);
  operand.space = is_on_device(memory) ? MemorySpace::device : MemorySpace::host;
  Halo halo(context, operand, options);
  Block extended(context, dtype, halo.extended_shape(), memory);
  Block part(context, dtype, layout.local_shape(rank), memory);
  deposit(extended, rank);
  halo.accumulate(extended.view(), part.view());
  EXPECT_EQ(wrong_sums(part, none, layout, rank, wanted), 0) << text;
  Block again(context, dtype, layout.local_shape(rank), memory);
  halo.start_accumulate(extended.view(), again.view());
  halo.finish();
  EXPECT_EQ(wrong_sums(again, none, layout, rank, wanted), 0) << text << " in halves";
  halo.accumulate(extended.view());
  EXPECT_EQ(wrong_sums(extended, options.lower, layout, rank, wanted), 0) << text << " in place";
  deposit(extended, rank);
  halo.start_accumulate(extended.view());
  halo.finish();
  EXPECT_EQ(wrong_sums(extended, options.lower, layout, rank, wanted), 0) << text << " in place, in halves";
}

RANK_TEST(HaloAccumulate, RandomBoxesWidthsAndPeriods) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  const std::vector<Memory> memories = every_memory(context);
  const std::vector<Dtype> dtypes = summed_dtypes();
  for (int round = 0; round < 30; ++round) {
    const Layout layout = random_parts(random, context.size());
    const HaloOptions options = random_widths(random, layout.dimensions());
    const Dtype dtype = dtypes[random() % dtypes.size()];
    check_accumulate(context, layout, dtype, options, memories[random() % memories.size()]);
  }
}

// Pieces that do not fit into one slot, round rings that are shorter than they.
RANK_TEST(HaloAccumulate, Large) {
  const Layout layout(Slab(0), {40001 * context.size() + 1}, context.size());
  check_accumulate(context, layout, Dtype::f64, {.lower = {35000}, .upper = {40}, .periodic = {true}},
                   usual_memory(context));
}

// <execute(x), y> = <x, accumulate(y)>, of numbers that are not exact.
RANK_TEST(HaloAccumulate, IsTheAdjointOfTheExchange) {
  const Layout layout(Slab(0), {3 * context.size() + 2, 7}, context.size());
  Array x = empty(context, layout, Dtype::f64, {.space = MemorySpace::host});
  fill_random(x, 1);
  Halo halo(context, x.operand(), {.lower = {2, 1}, .upper = {1, 3}, .periodic = {true, true}});
  const auto cells = static_cast<std::size_t>(volume(halo.extended_shape()));
  std::vector<double> extended_x(cells), y(cells), part(static_cast<std::size_t>(x.local_size()));
  std::mt19937 random(static_cast<unsigned>(context.rank()));
  for (double& value : y) value = std::uniform_real_distribution<double>(-1, 1)(random);
  halo.execute(x, view(extended_x, halo.extended_shape()));
  halo.accumulate(view(y, halo.extended_shape()), view(part, x.local_shape()));
  std::array<double, 2> products{};
  for (std::size_t i = 0; i < cells; ++i) products[0] += extended_x[i] * y[i];
  for (std::size_t i = 0; i < part.size(); ++i) products[1] += x.data<double>()[i] * part[i];
  all_reduce(context, view(products), view(products));
  EXPECT_NEAR(products[0], products[1], 1e-12 * static_cast<double>(cells));
}

RANK_TEST(HaloAccumulate, RefusesWhatItCannotDo) {
  const Layout slab(Slab(0), {4 * context.size(), 3}, context.size());
  Halo bytes(context, Operand::of(slab, Dtype::f8e4m3), {.lower = {1, 1}});
  Block extended(context, Dtype::f8e4m3, bytes.extended_shape());
  EXPECT_ERROR(ArgumentError, bytes.accumulate(extended.view()), "no sum");
  if (context.size() > 1) {
    const Layout everywhere(Replicated{}, {4, 3}, context.size());
    Halo replicas(context, Operand::of(everywhere, Dtype::f64), {.lower = {1, 1}});
    Block copies(context, Dtype::f64, replicas.extended_shape());
    EXPECT_ERROR(ArgumentError, replicas.accumulate(copies.view()), "replicated");
  }
  Halo halo(context, Operand::of(slab, Dtype::f64), {.lower = {1, 1}});
  Block one(context, Dtype::f64, halo.extended_shape());
  halo.start_accumulate(one.view());
  EXPECT_ERROR(ArgumentError, halo.refresh(one.view()), "call finish() first");
  halo.finish();
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
