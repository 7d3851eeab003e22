// Arrays on given memory, and plain memory together with arrays; on the host or (PARTITA_TEST_DEVICE) on
// devices.
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

std::vector<Distribution> rules_of_matrices(int ranks) {
  return {Slab(0), Slab(1), BlockCyclic({1, ranks}, {3, 2}), BlockCyclic({ranks, 1}, {2, 5}), Replicated()};
}

std::int64_t value_of(const Index& index) {
  return 100 * index[0] + index[1];
}

/// A matrix of value_of in the given kind of memory (any_memory.hpp).
Wrapped matrix_in(const Context& context, const Distribution& rule, const Shape& shape, int memory,
                  Dtype dtype = Dtype::i64) {
  Wrapped result = make_array(context, Layout(rule, shape, context.size()), dtype, memory);
  if (dtype == Dtype::i64) fill(result.array, value_of);
  if (dtype == Dtype::f64)
    fill(result.array, [](const Index& i) { return static_cast<double>(value_of(i)); });
  return result;
}

/// Every element on every rank is expected(its index).
template <class Expected>
void expect_elements(const Array& array, Expected&& expected) {
  const Array all = redistribute(array, Replicated());
  const std::int64_t columns = array.shape()[1];
  EXPECT_EQ(count_others(all,
                         [&](std::int64_t number) {
                           return static_cast<double>(expected(Index{number / columns, number % columns}));
                         }),
            0);
}

RANK_TEST(Views, WindowsAreReadWhereTheyLie) {
  for (const Distribution& rule : rules_of_matrices(context.size())) {
    for (int memory = 0; memory < 5; ++memory) {
      const Wrapped whole = matrix_in(context, rule, {13, 11}, memory);
      for (const Index& lower : {Index{0, 0}, Index{4, 3}, Index{12, 10}}) {
        const Shape shape{13 - lower[0] - (lower[0] > 0 ? 1 : 0), 11 - lower[1]};
        const Array seen = whole.array.window(lower, shape);
        EXPECT_EQ(seen.layout(), whole.array.layout().window(lower, shape));
        expect_elements(seen, [&](const Index& i) { return value_of({i[0] + lower[0], i[1] + lower[1]}); });
      }
      expect_elements(whole.array.window({2, 2}, {9, 8}).window({1, 3}, {5, 4}), [](const Index& i) {
        return value_of({i[0] + 3, i[1] + 5});
      });
    }
  }
}

RANK_TEST(Views, WhatIsWrittenIntoAWindowIsInTheWhole) {
  for (const Distribution& rule : rules_of_matrices(context.size())) {
    for (int memory = 0; memory < 5; ++memory) {
      const Wrapped whole = matrix_in(context, rule, {13, 11}, memory);
      Array seen = whole.array.window({4, 3}, {6, 5});
      fill(seen, std::int64_t{-1});
      const auto inside = [](const Index& i) { return i[0] >= 4 && i[0] < 10 && i[1] >= 3 && i[1] < 8; };
      expect_elements(whole.array, [&](const Index& i) { return inside(i) ? -1 : value_of(i); });
      Array source = empty(context, {6, 5}, Slab(1), Dtype::i64);
      fill(source, [](const Index& i) { return -5 - value_of(i); });
      redistribute(source, seen);
      expect_elements(whole.array, [&](const Index& i) {
        return inside(i) ? -5 - value_of({i[0] - 4, i[1] - 3}) : value_of(i);
      });
    }
  }
}

/// Those that are side by side are.
RANK_TEST(Views, WindowsThatOverlapAreNotRedistributedIntoEachOther) {
  const Wrapped whole = matrix_in(context, Slab(0), {8, 8}, 0);
  const auto columns = [&](std::int64_t first, std::int64_t count) {
    return whole.array.window({0, first}, {8, count});
  };
  Array one_on = columns(1, 7);
  const std::string text =
      same_error<ArgumentError>(context, [&] { redistribute_into(columns(0, 7), one_on); });
  EXPECT_TRUE(contains(text, "overlap in memory")) << text;
  Redistribute plan(context, columns(0, 7).operand(), one_on.operand());
  EXPECT_EQ(same_error<ArgumentError>(context, [&] { plan.execute(columns(0, 7), one_on); }), text);
  expect_elements(whole.array, [](const Index& i) { return value_of(i); });
  Array right = columns(4, 4);
  redistribute_into(columns(0, 4), right);
  expect_elements(whole.array, [](const Index& i) { return value_of({i[0], i[1] % 4}); });
}

RANK_TEST(Views, WindowsKeepTheMemory) {
  Array seen;
  {
    const Wrapped whole = matrix_in(context, Slab(0), {9, 4}, 1);
    seen = whole.array.window({1, 1}, {7, 2});
  }
  expect_elements(seen, [](const Index& i) { return value_of({i[0] + 1, i[1] + 1}); });
  const Array whole = zeros(context, {9, 4}, Slab(0), Dtype::f32);
  EXPECT_EQ(whole.window({0, 0}, {9, 4}).operand().to_string(), whole.operand().to_string());
  EXPECT_THROW((void)whole.window({3, 0}, {7, 4}), ArgumentError);
  EXPECT_THROW((void)whole.window({3}, {7}), ArgumentError);
  EXPECT_THROW((void)Array().window({3}, {7}), ArgumentError);
  EXPECT_EQ(whole.window({5, 2}, {0, 2}).local_size(), 0);
}

RANK_TEST(Views, TransposedArraysAreReadWhereTheyLie) {
  for (const Distribution& rule : rules_of_matrices(context.size())) {
    for (int memory = 0; memory < 5; ++memory) {
      const Wrapped whole = matrix_in(context, rule, {13, 11}, memory);
      const auto turned = [](const Index& i) { return value_of({i[1], i[0]}); };
      const Array seen = whole.array.permuted({1, 0});
      expect_elements(seen, turned);
      expect_elements(whole.array.window({4, 3}, {6, 5}).permuted({1, 0}), [](const Index& i) {
        return value_of({i[1] + 4, i[0] + 3});
      });
      expect_elements(seen.window({3, 4}, {5, 6}), [](const Index& i) {
        return value_of({i[1] + 4, i[0] + 3});
      });
      EXPECT_TRUE(compare(seen, redistribute(whole.array, Slab(0), {.axes = {1, 0}})).equal);
    }
  }
  const Array cube = zeros(context, {3, 4, 5}, Slab(1), Dtype::f64);
  EXPECT_EQ(cube.permuted({2, 0, 1}).shape(), Shape({5, 3, 4}));
  EXPECT_THROW((void)cube.permuted({0, 1}), ArgumentError);
  EXPECT_THROW((void)cube.permuted({0, 0, 1}), ArgumentError);
  EXPECT_EQ(at<double>(zeros(context, Shape{}, Replicated(), Dtype::f64).permuted({}), {}), 0);
}

RANK_TEST(Views, TransposedArraysAreMultiplied) {
  const Wrapped a = matrix_in(context, Slab(0), {7, 5}, 0, Dtype::f64);
  const Wrapped b = matrix_in(context, BlockCyclic({1, context.size()}, {2, 3}), {7, 6}, 0, Dtype::f64);
  EXPECT_EQ(compare(matmul(a.array.permuted({1, 0}), b.array, {.distribution = Slab(0)}),
                    matmul(a.array, b.array, {.op_a = Op::transpose, .distribution = Slab(0)}))
                .largest_difference,
            0);
}

RANK_TEST(Views, OfFilesAndTransforms) {
  const SharedDirectory directory(context);
  const Wrapped whole = matrix_in(context, Slab(1), {13, 11}, 0);
  const std::string path = directory / "window.npy";
  write_npy(path, whole.array.window({4, 3}, {6, 5}).permuted({1, 0}));
  expect_elements(read_npy(context, path, Slab(0)), [](const Index& i) {
    return value_of({i[1] + 4, i[0] + 3});
  });
  if (context.device().kind == Device::Kind::cuda) return;  // transforms are of host memory
  Array field = empty(context, {8, 6, 5}, Slab(0), Dtype::c128);
  fill_random(field, 3);
  const Array seen = field.permuted({2, 0, 1});
  const Array moved = redistribute(field, Slab(0), {.axes = {2, 0, 1}});
  EXPECT_LT(
      compare(fft(seen, {.output = Output::given, .distribution = Slab(0)}), fft(moved)).largest_difference,
      1e-12);
}

RANK_TEST(Views, ArraysAreCopiedFromAndToPlainMemory) {
  for (int memory = 0; memory < 5; ++memory) {
    const Layout layout(BlockCyclic({1, context.size()}, {3, 2}), {5, 7}, context.size());
    Wrapped wrapped = make_array(context, layout, Dtype::i64, memory);
    const std::vector<std::int64_t> columns = local_indices(wrapped.array, 1);
    std::vector<std::int64_t> mine;
    for (std::int64_t i = 0; i < 5; ++i) {
      for (const std::int64_t j : columns) mine.push_back(value_of({i, j}));
    }
    const Shape local = wrapped.array.local_shape();
    copy(view(std::as_const(mine), local), wrapped.array);
    expect_elements(wrapped.array, value_of);
    std::vector<std::int64_t> back(2 * mine.size() + 1, -1);
    View spread = View::dense(back.data(), Dtype::i64, local);
    for (std::int64_t& stride : spread.strides) stride *= 2;
    copy(wrapped.array, spread);
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(back[2 * i], mine[i]);
    EXPECT_EQ(back.back(), -1);
  }
}

RANK_TEST(Views, PlainMemoryIsCopiedToPlainMemory) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const SymmetricMemory memory = SymmetricMemory::allocate(context, 64);  // of the device, if there is one
  const View there = memory.view(Dtype::f32, {2, 3});
  std::vector<float> back(12, -1);
  View spread = view(back, {2, 6});
  spread.extents = {2, 3};
  copy(context, view(numbers, {2, 3}), there);
  copy(context, there, spread);
  EXPECT_EQ(back, (std::vector<float>{1, 2, 3, -1, -1, -1, 4, 5, 6, -1, -1, -1}));
  EXPECT_THROW(copy(context, there, view(back, {12})), ArgumentError);
  EXPECT_THROW(copy(context, there, View::dense(nullptr, Dtype::f32, {2, 3})), ArgumentError);
  if (memory.space() == MemorySpace::host) {
    EXPECT_THROW(copy(context, there, spread, Stream(nullptr)), UnsupportedError);
  }
}

RANK_TEST(Views, CopiesOfWhatDoesNotFitAreErrors) {
  Array array = zeros(context, {4 * context.size(), 3}, Slab(0), Dtype::f32);
  std::vector<float> memory(12);
  EXPECT_NO_THROW(copy(view(memory, {4, 3}), array));
  EXPECT_ERROR(ArgumentError, copy(view(memory, {3, 4}), array), "3x4");
  std::vector<double> wide(12);
  EXPECT_ERROR(ArgumentError, copy(array, view(wide, {4, 3})), "f64");
  EXPECT_THROW(copy(array, View::dense(nullptr, Dtype::f32, {4, 3})), ArgumentError);
  View strided = view(memory, {4, 3});
  strided.strides = {3};
  EXPECT_THROW(copy(strided, array), ArgumentError);
  const View negative{memory.data(), Dtype::f32, {-3}, {1}};
  EXPECT_ERROR(ArgumentError, copy(context, negative, negative), "extent -3");
  EXPECT_ERROR(ArgumentError, send(context, negative, context.rank()), "extent -3");
}

}  // namespace
}  // namespace partita::testing
