// Parts with ghost cells against the definition: cell i of the extended part is element lower + i of the
// array, indices going round where they are periodic.
#include "support/models/halo_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

void check_halo(Context& context, const Layout& layout, Dtype dtype, const HaloOptions& options,
                Residency residency, Memory memory) {
  Array on_host = empty(context, layout, dtype, {.residency = residency, .space = MemorySpace::host});
  write_array(on_host);
  Array array = on_host;
  if (is_on_device(memory)) {
    array = empty(context, layout, dtype, {.residency = residency, .space = MemorySpace::device});
    copy(on_host, array);
  }
  Halo halo(context, array.operand(), options);
  ASSERT_EQ(halo.extended_shape(), halo_shape(layout, context.rank(), options));
  const std::string text =
      layout.to_string() + " lower " + to_string(options.lower) + " upper " + to_string(options.upper);
  Block first(context, dtype, halo.extended_shape(), memory);
  Block second(context, dtype, halo.extended_shape(), memory);
  Block third(context, dtype, halo.extended_shape(), memory);
  halo.execute(array, first.view());
  EXPECT_EQ(wrong_cells(first, layout, context.rank(), options), 0) << text;
  halo_exchange(array, second.view(), options);
  EXPECT_EQ(wrong_cells(second, layout, context.rank(), options), 0) << text << " in one line";
  const View interior = halo.interior(third.view());
  const Index lower(options.lower),
      corner = volume(interior.extents) == 0 ? lower : corner_of(layout, context.rank());
  for_each_index(interior.extents, [&](const Index& index) {
    write_number(dtype, third.at(plus(index, lower)), element(dtype, plus(index, corner)));
  });
  third.upload();
  halo.refresh(third.view());
  EXPECT_EQ(wrong_cells(third, layout, context.rank(), options), 0) << text << " refreshed";
}

/// Slabs, grids of blocks, boxes of random cuts (some empty), replicas.
Layout random_layout(std::mt19937& random, int ranks) {
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  const int dimensions = 1 + static_cast<int>(below(3));
  Shape shape;
  for (int d = 0; d < dimensions; ++d) shape.push_back(1 + below(11));
  const int axis = static_cast<int>(below(dimensions));
  switch (below(4)) {
    case 0:
      return {Slab(axis), shape, ranks};
    case 1: {
      Extents grid = Extents::filled(dimensions, 1);
      grid[axis] = ranks % 2 == 0 ? ranks / 2 : ranks;
      if (ranks % 2 == 0) grid[(axis + 1) % dimensions] *= 2;
      return {BlockNonCyclic(ProcessGrid(grid)), shape, ranks};
    }
    case 2: {
      std::vector<std::int64_t> cuts{0, shape[axis]};
      for (int i = 1; i < ranks; ++i) cuts.push_back(below(static_cast<int>(shape[axis]) + 1));
      std::sort(cuts.begin(), cuts.end());
      std::vector<Box::Bounds> boxes;
      for (int rank = 0; rank < ranks; ++rank) {
        Box::Bounds box{Extents::filled(dimensions, 0), shape};
        box.lower[axis] = cuts[static_cast<std::size_t>(rank)];
        box.upper[axis] = cuts[static_cast<std::size_t>(rank) + 1];
        boxes.push_back(box);
      }
      return {Box(boxes), shape, ranks};
    }
    default:
      return {Replicated{}, shape, ranks};
  }
}

RANK_TEST(Halo, RandomBoxesWidthsAndPeriods) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed()));
  const std::vector<Memory> memories = every_memory(context);
  for (int round = 0; round < 40; ++round) {
    const Layout layout = random_layout(random, context.size());
    const HaloOptions options = random_widths(random, layout.dimensions());
    const auto dtype = static_cast<Dtype>(random() % dtype_count);
    const Residency residency = random() % 2 == 0 ? Residency::heap : Residency::ordinary;
    check_halo(context, layout, dtype, options, residency, memories[random() % memories.size()]);
  }
}

// Pieces that do not fit into one slot of rings, where they go by those.
RANK_TEST(Halo, Large) {
  const Layout layout(Slab(0), {10, 30001}, context.size());
  check_halo(context, layout, Dtype::f64, {.lower = {7, 3}, .upper = {4, 0}, .periodic = {true, true}},
             Residency::heap, usual_memory(context));
}

// What the first rank sends to itself is too much to be packed with what it sends to others: no rank of
// devices does all at once.
RANK_TEST(Halo, OneRankHasMostOfIt) {
  const std::int64_t rows = 280, others = context.size() - 1;
  std::vector<std::int64_t> cuts{0};
  for (std::int64_t rank = 0; rank <= others; ++rank) cuts.push_back(rows + rank);
  const Layout layout(Box::from_cuts({cuts, {0, 500}}), {rows + others, 500}, context.size());
  check_halo(context, layout, Dtype::c128, {.lower = {1, 1000}, .upper = {1, 1000}, .periodic = {true, true}},
             Residency::heap, usual_memory(context));
}

RANK_TEST(Halo, ManyTimesWithNewValues) {
  const Layout layout(Slab(0), {3 * context.size() + 1, 5}, context.size());
  const HaloOptions whole{.lower = {1, 1}, .upper = {1, 1}, .periodic = {true, false}};
  Array array = empty(context, layout, Dtype::i64, {.space = MemorySpace::host});
  Halo halo(context, array.operand(), {.lower = {1, 1}, .periodic = {true, false}});
  Block extended(context, Dtype::i64, halo.extended_shape());
  auto* own = array.data<std::int64_t>();
  const Shape local = array.local_shape();
  const Index corner = corner_of(layout, context.rank());
  for (int turn = 0; turn < 300; ++turn) {
    for (std::int64_t i = 0; i < volume(local); ++i) own[i] = turn;
    halo.execute(array, extended.view());
    std::int64_t wrong = 0;
    for_each_index(extended.view().extents, [&](const Index& cell) {
      const bool inside = global_of(layout, corner, whole, cell).has_value();
      if (inside) wrong += read_number(Dtype::i64, extended.at(cell)).real() != turn;
    });
    ASSERT_EQ(wrong, 0) << "turn " << turn;
  }
}

RANK_TEST(Halo, RefusesWhatItCannotDo) {
  const auto halo_of = [&](const Layout& layout, const HaloOptions& options) {
    Halo(context, Operand::of(layout, Dtype::f32), options);
  };
  const Layout slab(Slab(0), {9, 4}, context.size());
  EXPECT_ERROR(ArgumentError, halo_of(slab, {.lower = {1}}), "widths");
  EXPECT_ERROR(ArgumentError, halo_of(slab, {.lower = {1, -1}}));
  EXPECT_ERROR(ArgumentError, halo_of(slab, {.lower = {1, 1}, .periodic = {true}}));
  if (context.size() > 1) {
    const Layout cyclic(BlockCyclic({context.size(), 1}, {1, 4}), {9, 4}, context.size());
    EXPECT_ERROR(ArgumentError, halo_of(cyclic, {.lower = {1, 1}}), "not a box");
  }
  if (context.size() > 1) {
    const HaloOptions whole{.lower = {2, 1}, .upper = {2, 0}, .periodic = {true, true}};
    EXPECT_ERROR_ON_ALL(
        DisagreementError, halo_of(slab, context.rank() == 0 ? whole : HaloOptions{.lower = {1, 1}}),
        "widths 2x1 and 2x0, periodic along 0,1 on rank 0", "widths 1x1 and 1x1, periodic nowhere");
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const HaloOptions& wide : {HaloOptions{.lower = {most - 8, 1}, .upper = {0, 0}},
                                  HaloOptions{.lower = {1, 1}, .upper = {1, most}}}) {
    EXPECT_ERROR(ArgumentError, halo_of(slab, wide), "2^63 - 1");
    EXPECT_THROW((void)halo_shape(slab, 0, wide), ArgumentError);
  }
  Halo halo(context, Operand::of(slab, Dtype::f32), {.lower = {1, 1}});
  // Some ranks' parts are as large as those of the plan, others' not.
  const Array longer = zeros(context, {10, 4}, Slab(0), Dtype::f32);
  Block extended(context, Dtype::f32, halo.extended_shape());
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { halo.execute(longer, extended.view()); }, [&] { halo.start(longer, extended.view()); },
           [&] { halo.accumulate(extended.view(), longer); },
           [&] { halo.start_accumulate(extended.view(), longer); }}) {
    const std::string text = caught<ArgumentError>(call);
    EXPECT_TRUE(contains(text, "the array is 10x4 slab:0") && contains(text, "made for 9x4 slab:0")) << text;
  }
  Block small(context, Dtype::f32, {1, 1});
  if (9 >= context.size()) {
    EXPECT_ERROR(ArgumentError, halo.execute(small.view(), small.view()));
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
