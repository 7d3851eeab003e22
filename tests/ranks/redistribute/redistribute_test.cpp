// Redistribution of everything into everything, against values computed element by element.
#include "support/models/random_layouts.hpp"
#include "support/models/random_redistribution.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::array<Dtype, 15> dtypes{Dtype::boolean, Dtype::i8,  Dtype::u8,  Dtype::i16, Dtype::u16,
                                       Dtype::i32,     Dtype::u32, Dtype::i64, Dtype::u64, Dtype::f16,
                                       Dtype::bf16,    Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

void run_case(Context& context, const RandomRedistribution& choice) {
  Wrapped source = make_array(context, choice.source, choice.dtype, choice.source_kind);
  Wrapped destination = make_array(context, choice.destination, choice.dtype, choice.destination_kind);
  write_known(source.array);
  write_constant(destination.array, 1);
  redistribute(source.array, destination.array, choice.options);
  EXPECT_EQ(count_wrong(destination.array, choice.source, choice.options.axes), 0) << describe(choice);
}

RANK_TEST(Redistribute, RandomPairsOfEverything) {
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  const int cases = full_product() ? 2000 : 150;
  for (int i = 0; i < cases; ++i) run_case(context, random_redistribution(random, context));
}

RANK_TEST(Redistribute, EveryDtypeThroughEveryMethod) {
  const Shape shape{13, 7};
  for (const Dtype dtype : dtypes) {
    for (const auto method :
         {RedistributeMethod::automatic, RedistributeMethod::direct, RedistributeMethod::pushed,
          RedistributeMethod::staged, RedistributeMethod::messages, RedistributeMethod::grouped}) {
      RandomRedistribution choice{
          Layout(Slab(0), shape, context.size()), Layout(Slab(1), shape, context.size()), dtype, 0, 0, {}};
      choice.options.method = method;
      run_case(context, choice);
    }
  }
}

RANK_TEST(Redistribute, IntoANewArrayInEitherOrder) {
  Array source = empty(context, {11, 5, 3}, Slab(0), Dtype::f32);
  write_known(source);
  RedistributeOptions options{.axes = {2, 0, 1}, .order = Order::column_major};
  const Array result = redistribute(source, Slab(1), options);
  EXPECT_EQ(result.shape(), Shape({3, 11, 5}));
  EXPECT_EQ(count_wrong(result, source.layout(), options.axes), 0);
}

RANK_TEST(Redistribute, ScalarsAndEmptyArrays) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{0, 5}, Shape{1, 1, 1}}) {
    Array source = empty(context, shape, Replicated(), Dtype::i32);
    write_known(source);
    const Array result = redistribute(source, Replicated());
    EXPECT_EQ(count_wrong(result, source.layout()), 0);
  }
}

RANK_TEST(Redistribute, AScalarGoesToOneRankAndBack) {
  Array source = empty(context, Shape{}, Replicated(), Dtype::f64);
  write_known(source);
  const int root = context.size() - 1;
  const Array gathered = gather(source, root);
  EXPECT_EQ(gathered.local_size(), context.rank() == root ? 1 : 0);
  EXPECT_EQ(count_wrong(redistribute(gathered, Replicated()), source.layout()), 0);
}

// When execute returns, the source may be overwritten at once: its readers have finished.
RANK_TEST(Redistribute, SourceMayBeOverwrittenAfterEachExecute) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  using enum RedistributeMethod;
  for (const auto& [residency, method] :
       {std::pair(Residency::heap, automatic), std::pair(Residency::ordinary, automatic),
        std::pair(Residency::ordinary, pulled)}) {
    if (method == pulled && !may_pull(context)) continue;
    Array source = empty(context, {37, 29}, Slab(0), Dtype::i64, {.residency = residency});
    Array destination = empty(context, {37, 29}, Slab(1), Dtype::i64, {.residency = residency});
    Redistribute plan(context, source.operand(), destination.operand(), {.method = method});
    plan.reset(source, destination);
    for (std::int64_t round = 0; round < 1000; ++round) {
      const auto value = [&](std::int64_t number) { return static_cast<double>(number + round * 5000); };
      write_values(source, value);
      if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      plan.execute();
      write_constant(source, -1);
      ASSERT_EQ(count_others(destination, value), 0) << "round " << round;
    }
  }
}

RANK_TEST(Redistribute, PlansOfOneContextInterleave) {
  Array a = empty(context, {17, 12}, Slab(0), Dtype::f64);
  Array b = empty(context, {12, 17}, Slab(0), Dtype::f64);
  write_known(a);
  RedistributeOptions transposed{.axes = {1, 0}};
  for (int i = 0; i < 50; ++i) {
    redistribute(a, b, transposed);
    redistribute(b, a, transposed);
  }
  EXPECT_EQ(count_wrong(a, a.layout()), 0);
}

// Operands of more than 2^31 elements' worth of index arithmetic, without their memory: strides do the work.
RANK_TEST(Redistribute, IndicesBeyond32Bits) {
  const std::int64_t rows = (std::int64_t{1} << 33) + 5;
  const Layout tall(Slab(0), {rows, 1}, context.size());
  EXPECT_EQ(tall.region(context.size() - 1).sets[0].back(), rows - 1);
  const Operand source = Operand::of(tall, Dtype::u8);
  const Operand destination = Operand::of(
      Layout(BlockCyclic({context.size(), 1}, {1 << 20, 1}), {rows, 1}, context.size()), Dtype::u8);
  const Plan plan = plan_redistribute(source, destination, context.topology(), context.rank());
  const Traffic moved = traffic(plan);
  EXPECT_EQ(moved.local_bytes + moved.node_bytes + moved.network_bytes,
            destination.layout.local_size(context.rank()));
}

RANK_TEST(Redistribute, RefusesWhatDoesNotFitAlikeOnAllRanks) {
  Array source = empty(context, {8, 6}, Slab(0), Dtype::f64);
  Array wrong_shape = empty(context, {6, 8}, Slab(0), Dtype::f64);
  Array wrong_dtype = empty(context, {8, 6}, Slab(1), Dtype::f32);
  EXPECT_THROW(redistribute(source, wrong_shape), ArgumentError);
  EXPECT_THROW(redistribute(source, wrong_dtype), ArgumentError);
  EXPECT_THROW(redistribute(source, source), ArgumentError);
  EXPECT_THROW((void)redistribute(source, Slab(2)), ArgumentError);
  EXPECT_THROW((void)redistribute(source, Slab(0), {.axes = {0, 0}}), ArgumentError);
  EXPECT_FALSE(context.failed());
  write_known(source);
  EXPECT_EQ(count_wrong(redistribute(source, Slab(1)), source.layout()), 0);  // the context still works
}

RANK_TEST(Redistribute, BetweenSubgroups) {
  if (context.size() < 3) GTEST_SKIP() << "needs three ranks";
  std::vector<int> first;
  std::vector<int> second{context.size() - 1, 0};
  for (int rank = 0; rank < context.size(); ++rank) first.push_back(rank);
  first.pop_back();
  Array source;
  std::optional<Context> group;
  if (context.rank() < context.size() - 1) {
    group.emplace(context.subgroup(first));
    source = empty(*group, {10, 7}, Slab(0), Dtype::f32);
    write_known(source);
  }
  const Array seen = embed(context, source, first);
  const Layout target = Layout(Slab(1), {10, 7}, 2).embedded(second, context.size());
  const Array moved = redistribute(seen, target);
  EXPECT_EQ(count_wrong(moved, seen.layout()), 0);
  if (context.rank() == 0 || context.rank() == context.size() - 1) {
    const Context pair = context.subgroup(second);
    const Array own = restrict_to(pair, moved, second);
    EXPECT_EQ(own.layout(), Layout(Slab(1), Shape({10, 7}), 2));
    EXPECT_EQ(count_wrong(own, Layout(Slab(1), {10, 7}, 2)), 0);
  }
  context.barrier();
}

RANK_TEST(Redistribute, EmbedRefusesRanksThatAreNotThere) {
  const std::vector<int> outside{context.size()}, negative{-1};
  EXPECT_THROW(embed(context, Array(), outside), ArgumentError);
  EXPECT_THROW(embed(context, Array(), negative), ArgumentError);
  context.barrier();
}

}  // namespace
}  // namespace partita::testing
