// Arrays: creation, wrapping, and the operations of one step.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Array, KnowsItsPart) {
  const Array array = empty(context, {7, 5}, Slab(0), Dtype::f32);
  EXPECT_EQ(array.shape(), Shape({7, 5}));
  EXPECT_EQ(array.dtype(), Dtype::f32);
  EXPECT_EQ(array.local_shape(), array.layout().local_shape(context.rank()));
  EXPECT_EQ(array.operand().residency, Residency::heap);
  EXPECT_NO_THROW((void)array.data<float>());
  EXPECT_THROW((void)array.data<double>(), ArgumentError);
}

RANK_TEST(Array, AnInvalidOneSaysSo) {
  const Array none;
  EXPECT_FALSE(none.valid());
  EXPECT_THROW((void)none.layout(), ArgumentError);
}

RANK_TEST(Array, ZerosAndFill) {
  for (const Residency residency : {Residency::heap, Residency::ordinary}) {
    Array array = zeros(context, {9, 4, 3}, Slab(1), Dtype::i16,
                        {.residency = residency, .order = Order::column_major});
    EXPECT_EQ(count_others(array, 0), 0);
    fill(array, std::int16_t{-7});
    EXPECT_EQ(count_others(array, -7), 0);
    EXPECT_THROW(fill(array, 1.0), ArgumentError);
  }
}

RANK_TEST(Array, RandomNumbersDoNotDependOnTheDistribution) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::c64, Dtype::bf16, Dtype::u8, Dtype::boolean}) {
    Array slabs = empty(context, {19, 11}, Slab(0), dtype);
    Array blocks = empty(context, {19, 11}, BlockCyclic({1, context.size()}, {3, 2}), dtype);
    fill_random(slabs, 42);
    fill_random(blocks, 42);
    EXPECT_TRUE(compare(slabs, blocks).equal);
    fill_random(blocks, 43);
    EXPECT_FALSE(compare(slabs, blocks).equal);
  }
}

RANK_TEST(Array, RandomNumbersFillTheirRange) {
  Array array = empty(context, {4000}, Replicated(), Dtype::f64);
  fill_random(array, 7);
  const Array here = arrays::on_host(array);
  const double* values = here.data<double>();
  const double sum = std::accumulate(values, values + 4000, 0.0);
  EXPECT_LT(std::abs(sum / 4000), 0.05);
  EXPECT_LT(*std::min_element(values, values + 4000), -0.99);
  EXPECT_GT(*std::max_element(values, values + 4000), 0.99);
  EXPECT_LT(*std::max_element(values, values + 4000), 1.0);
}

RANK_TEST(Array, CompareFindsTheFirstDifference) {
  Array a = empty(context, {6, 5}, Slab(0), Dtype::f64);
  Array b = empty(context, {6, 5}, Slab(1), Dtype::f64);
  write_known(a);
  write_known(b);
  EXPECT_TRUE(compare(a, b).equal);
  each_element(b, [](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    if (number == 13) element = make_value<T>(1000);
    if (number == 28) element = make_value<T>(2000);
  });
  const Comparison found = compare(a, b);
  EXPECT_FALSE(found.equal);
  EXPECT_EQ(found.differing, 2);
  EXPECT_EQ(found.first_difference, Index({2, 3}));
  EXPECT_EQ(found.largest_difference, 2000 - known_value(28, 0));
}

RANK_TEST(Array, CompareCountsReplicasOnce) {
  Array a = empty(context, {3}, Replicated(), Dtype::i32);
  Array b = empty(context, {3}, Replicated(), Dtype::i32);
  write_constant(a, 1);
  write_constant(b, 2);
  EXPECT_EQ(compare(a, b).differing, 3);
}

RANK_TEST(Array, CopyBetweenOrders) {
  Array rows = empty(context, {8, 9}, Slab(0), Dtype::c128);
  Array columns = empty(context, {8, 9}, Slab(0), Dtype::c128,
                        {.residency = Residency::ordinary, .order = Order::column_major});
  write_known(rows);
  copy(rows, columns);
  EXPECT_EQ(count_wrong(columns, rows.layout()), 0);
  Array other = empty(context, {9, 8}, Slab(0), Dtype::c128);
  EXPECT_THROW(copy(rows, other), ArgumentError);
}

RANK_TEST(Array, AnotherNameSharesTheMemoryAndACloneDoesNot) {
  Array a = empty(context, {8, 9}, Slab(0), Dtype::i32);
  write_known(a);
  Array b = a;
  const Array copied = clone(a), window = clone(a.window({2, 0}, {5, 9}));
  EXPECT_EQ(copied.operand().to_string(), a.operand().to_string());
  EXPECT_EQ(window.layout(), a.layout().window({2, 0}, {5, 9}));
  const Array columns = clone(a, {.residency = Residency::ordinary, .order = Order::column_major});
  EXPECT_EQ(columns.operand().residency, Residency::ordinary);
  write_constant(b, -1);
  EXPECT_EQ(at<std::int32_t>(a, {3, 4}), -1);
  EXPECT_EQ(count_wrong(copied, a.layout()), 0);
  EXPECT_EQ(count_wrong(columns, a.layout()), 0);
  EXPECT_EQ(at<std::int32_t>(window, {1, 4}), known_value(3 * 9 + 4, 0));
}

RANK_TEST(Array, GatherAndScatter) {
  Array array = empty(context, {5, 4}, BlockCyclic({context.size(), 1}, {2, 3}), Dtype::f32);
  write_known(array);
  for (int root = 0; root < context.size(); ++root) {
    const Array whole = gather(array, root);
    EXPECT_EQ(whole.local_size(), context.rank() == root ? 20 : 0);
    EXPECT_EQ(count_wrong(whole, array.layout()), 0);
    const Array here = arrays::on_host(whole);
    const Array back = scatter(context, here.local(), {5, 4}, Slab(1), root);
    EXPECT_EQ(count_wrong(back, array.layout()), 0);
  }
  EXPECT_THROW((void)gather(array, context.size()), ArgumentError);
  EXPECT_THROW((void)scatter(context, {}, {5, 4}, Slab(1), 0), ArgumentError);
}

RANK_TEST(Array, WrapRecognisesOrdersAndTheHeap) {
  const Layout layout(Slab(0), {6, 4}, context.size());
  const Shape part = layout.local_shape(context.rank());
  SymmetricMemory block =
      SymmetricMemory::allocate(context, layout.largest_local_size() * 8, MemorySpace::host);
  const Array on_heap = wrap(context, View::dense(block.data(), Dtype::f64, part), layout);
  EXPECT_EQ(on_heap.operand().residency, Residency::heap);
  EXPECT_EQ(on_heap.operand().axis_order, Extents({0, 1}));
  std::vector<double> memory(static_cast<std::size_t>(layout.largest_local_size()));
  const Array ordinary =
      wrap(context, View::dense(memory.data(), Dtype::f64, part, Order::column_major), layout);
  EXPECT_EQ(ordinary.operand().residency, Residency::ordinary);
  EXPECT_TRUE(ordinary.operand().dense);
}

RANK_TEST(Array, WrapKeepsTheOwnerAsLongAsTheArray) {
  const Layout layout(Slab(0), {3, 5}, context.size());  // some parts are empty
  auto memory =
      std::make_shared<std::vector<double>>(static_cast<std::size_t>(layout.local_size(context.rank()) + 1));
  const std::weak_ptr<void> watched = memory;
  const View view = View::dense(memory->data(), Dtype::f64, layout.local_shape(context.rank()));
  Array array = wrap(context, view, layout, std::move(memory));
  memory.reset();
  Array copy = array;
  array = Array();
  EXPECT_FALSE(watched.expired());
  fill(copy, 2.0);
  copy = Array();
  EXPECT_TRUE(watched.expired());
  memory = std::make_shared<std::vector<double>>(15);
  const Operand operand = Operand::of(layout, Dtype::f64);
  const View again = View::dense(memory->data(), Dtype::f64, layout.local_shape(context.rank()));
  array = wrap(context, again, operand, memory);
  EXPECT_EQ(memory.use_count(), 2);
  // Refused: nothing is kept.
  EXPECT_THROW((void)wrap(context, again, Slab(0), {99, 5}, memory), ArgumentError);
  EXPECT_EQ(memory.use_count(), 2);
}

RANK_TEST(Array, KnowsItsContext) {
  const Array array = zeros(context, {3, 5}, Slab(0), Dtype::f16);
  EXPECT_EQ(array.context(), context);
  const Array other = zeros(array.context(), array.shape(), Slab(1), array.dtype());
  EXPECT_TRUE(compare(array, other).equal);
  EXPECT_THROW((void)Array().context(), ArgumentError);
}

RANK_TEST(Array, HalvesHaveTypes) {
  Array array = empty(context, {7, 3}, Slab(0), Dtype::bf16, {.space = MemorySpace::host});
  fill(array, BFloat16(1.5f));
  for (std::int64_t i = 0; i < array.local_size(); ++i) EXPECT_EQ(array.data<BFloat16>()[i], 1.5f);
  fill(array, Float16(2.5f));
  for (std::int64_t i = 0; i < array.local_size(); ++i) EXPECT_EQ(array.data<BFloat16>()[i], 2.5f);
  EXPECT_THROW(fill(array, std::complex<float>(1, 1)), ArgumentError);
  EXPECT_THROW(fill(array, static_cast<const void*>(nullptr)), ArgumentError);
}

RANK_TEST(Array, HostMemoryHasNoStreams) {
  int queue = 0;
  const Stream stream{&queue};
  const ArrayOptions on_host{.space = MemorySpace::host};
  Array array = zeros(context, {4, 3}, Slab(0), Dtype::f64, on_host);
  Array other = zeros(context, {4, 3}, Slab(0), Dtype::f64, on_host);
  double value = 3;
  EXPECT_THROW(fill(array, value, stream), UnsupportedError);
  EXPECT_THROW(fill(array, &value, Stream{nullptr}), UnsupportedError);
  EXPECT_THROW(fill_random(array, 1, stream), UnsupportedError);
  EXPECT_THROW(fill_normal(array, 1, stream), UnsupportedError);
  EXPECT_THROW(fill(
                   array, [](const Index&) { return 1.0; }, stream),
               UnsupportedError);
  EXPECT_THROW(copy(array, other, stream), UnsupportedError);
  EXPECT_THROW(copy(array, other.local(), stream), UnsupportedError);
  EXPECT_THROW(copy(array.local(), other, stream), UnsupportedError);
  EXPECT_THROW((void)at<double>(array, {0, 0}, stream), UnsupportedError);
  EXPECT_THROW(set_at(array, {0, 0}, 1.0, stream), UnsupportedError);
  EXPECT_THROW((void)astype(array, Dtype::f32, {.stream = stream, .space = MemorySpace::host}),
               UnsupportedError);
  EXPECT_THROW((void)compare(array, other, stream), UnsupportedError);
  EXPECT_THROW((void)gather(array, 0, {.stream = stream}), UnsupportedError);
  if (context.device().kind == Device::Kind::cpu) {
    EXPECT_THROW((void)scatter(context, array.local(), {4, 3}, Slab(0), 0, {.stream = stream}),
                 UnsupportedError);
  }
  // None is given.
  fill(array, value, Stream());
  copy(array, other, Stream());
  EXPECT_TRUE(compare(array, other, Stream()).equal);
  EXPECT_EQ(gather(array, 0, {.stream = Stream()}).local_size(), context.rank() == 0 ? 12 : 0);
}

RANK_TEST(Array, WrapWithAWrongShapeOnOneRankFailsOnAll) {
  const Layout layout(Slab(0), {2 * context.size(), 4}, context.size());
  std::vector<double> memory(64);
  const bool odd_one = context.rank() == context.size() - 1;
  const View view = View::dense(memory.data(), Dtype::f64, odd_one ? Shape{3, 4} : Shape{2, 4});
  EXPECT_ERROR_ON_ALL(ArgumentError, wrap(context, view, layout), "3x4");
  EXPECT_FALSE(context.failed());
}

RANK_TEST(Array, WhatIsWrongOnOneRankIsToldToAll) {
  if (context.size() == 1) GTEST_SKIP() << "needs two ranks";
  const bool first = context.rank() == 0;
  const Array array = zeros(context, {4, 3}, Slab(0), Dtype::f32);
  const Array other = zeros(context, {4, 4}, Slab(0), Dtype::f32);
  EXPECT_ERROR_ON_ALL(DisagreementError, gather(array, first ? -1 : 0), "root -1");
  EXPECT_ERROR_ON_ALL(ArgumentError, compare(array, first ? other : array), "4x4");
  const Array columns = zeros(context, {4, 3}, Slab(1), Dtype::f32);
  EXPECT_ERROR_ON_ALL(DisagreementError, compare(array, first ? columns : array), "slab:1");
  // Of these there is no plan yet.
  const Array square = zeros(context, {13, 13}, Slab(0), Dtype::f32);
  EXPECT_ERROR_ON_ALL(ArgumentError, matmul(square, first ? Array() : square), "no array");
  Array moved = zeros(context, {13, 13}, Slab(1), Dtype::f32), itself = square;
  EXPECT_ERROR_ON_ALL(ArgumentError, redistribute_into(square, first ? itself : moved), "the same array");
  EXPECT_TRUE(compare(array, columns).equal);  // the context is as before
}

RANK_TEST(Array, DisagreementNamesRanksAndValues) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const Shape shape{context.rank() == 0 ? 8 : 9, 4};
  EXPECT_ERROR_ON_ALL(DisagreementError, empty(context, shape, Slab(0), Dtype::f64), "8x4", "9x4");
  EXPECT_FALSE(context.failed());
}

RANK_TEST(Array, ArraysOutliveTheirContext) {
  Array survivor;
  {
    Context inner = context.subgroup(std::vector<int>{context.rank()});
    survivor = empty(inner, {4, 4}, Slab(0), Dtype::f64);
    write_known(survivor);
  }
  EXPECT_EQ(count_wrong(survivor, survivor.layout()), 0);
}

RANK_TEST(Array, FillsWithWhatAPointerPointsTo) {
  Array array = empty(context, {9, 4}, Slab(0), Dtype::f64);
  const double value = 2.5;
  fill(array, &value);
  EXPECT_EQ(count_others(array, 2.5), 0);
  double other = -1;
  fill(array, static_cast<const void*>(&other));
  fill(array, &other);
  EXPECT_EQ(count_others(array, -1), 0);
  const float single = 0;
  EXPECT_THROW(fill(array, &single), ArgumentError);
}

RANK_TEST(Array, IntegersOfOneSizeAreOneDtype) {
  Array array = empty(context, {5}, Replicated(), Dtype::i64,
                      {.residency = Residency::ordinary, .space = MemorySpace::host});
  fill(array, 7L);
  EXPECT_EQ(array.data<long>()[4], 7);
  fill(array, 8LL);
  EXPECT_EQ(array.data<long long>()[4], 8);
  EXPECT_THROW((void)array.data<unsigned long long>(), ArgumentError);
}

// Whoever never lets go of an array is named in the report, not the library.
RANK_TEST(Array, LeaksAreReportedAtTheCallersPlace) {
  const std::vector<int> all = all_ranks(context);
  Context other = context.subgroup(all);
  ArrayOptions on_host{.space = MemorySpace::host};
  std::vector<Array> kept;
  const int line = __LINE__;
  kept.push_back(empty(other, {6, 5}, Slab(0), Dtype::f64, on_host));
  kept.push_back(empty(other, Layout(Slab(1), {6, 5}, other.size()), Dtype::f64, on_host));
  kept.push_back(zeros(other, {6, 5}, Slab(0), Dtype::c128, on_host));
  kept.push_back(redistribute(kept[0], Slab(1)));
  kept.push_back(redistribute(kept[0], kept[1].layout()));
  kept.push_back(gather(kept[0]));
  kept.push_back(fft(kept[2]));
  kept.push_back(spectral_apply(kept[2], [](const WaveVector&) { return std::complex<double>(1); }));
  kept.push_back(matmul(kept[0], zeros(other, {5, 3}, Slab(0), Dtype::f64, on_host)));
  const std::string leaks = other.state()->heap->leaks();
  for (int call = 1; call <= static_cast<int>(kept.size()); ++call) {
    EXPECT_TRUE(contains(leaks, " at array_test.cpp:" + std::to_string(line + call) + " (")) << call << leaks;
  }
  kept.clear();
  other.close();
}

}  // namespace
}  // namespace partita::testing
