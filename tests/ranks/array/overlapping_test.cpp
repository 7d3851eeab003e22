// What is read and what is written overlap in memory: the result is as if all had been read first, or the
// call is an error on all ranks.
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t whole_side = 8;

/// Two windows of one array of whole_side x whole_side elements, or transposed ones.
struct WindowPair {
  Index from, to;
  Shape shape;
  bool transposed = false;  ///< the source is

  Array source(const Array& whole) const {
    const Array seen = whole.window(from, shape);
    return transposed ? seen.permuted({1, 0}) : seen;
  }
  Array destination(const Array& whole) const { return whole.window(to, shape); }
};

/// Windows move along axes that are not cut, so that both have one layout.
WindowPair random_pair(std::mt19937& random, int cut_axis) {
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(end));
  };
  WindowPair pair{{0, 0}, {0, 0}, {1 + below(whole_side), 1 + below(whole_side)}};
  pair.transposed = cut_axis < 0 && below(3) == 0;
  if (pair.transposed) pair.shape[1] = pair.shape[0];
  for (int d = 0; d < 2; ++d) {
    pair.from[d] = below(whole_side - pair.shape[d] + 1);
    pair.to[d] = d == cut_axis ? pair.from[d] : below(whole_side - pair.shape[d] + 1);
  }
  return pair;
}

std::vector<std::int64_t> numbered() {
  std::vector<std::int64_t> numbers(whole_side * whole_side);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<std::int64_t> after_copy(const WindowPair& pair) {
  const std::vector<std::int64_t> before = numbered();
  std::vector<std::int64_t> after = before;
  for (std::int64_t i = 0; i < pair.shape[0]; ++i) {
    for (std::int64_t j = 0; j < pair.shape[1]; ++j) {
      const std::int64_t row = pair.from[0] + (pair.transposed ? j : i);
      const std::int64_t column = pair.from[1] + (pair.transposed ? i : j);
      after[static_cast<std::size_t>((pair.to[0] + i) * whole_side + pair.to[1] + j)] =
          before[static_cast<std::size_t>(row * whole_side + column)];
    }
  }
  return after;
}

std::vector<std::int64_t> elements_of(const Array& array) {
  const Array all = redistribute(array, Replicated(), {.space = MemorySpace::host});
  const auto* first = all.data<std::int64_t>();
  return {first, first + all.local_size()};
}

Wrapped numbered_in(const Context& context, const Distribution& rule, int memory) {
  Wrapped result =
      make_array(context, Layout(rule, {whole_side, whole_side}, context.size()), Dtype::i64, memory);
  fill(result.array, [](const Index& at) { return whole_side * at[0] + at[1]; });
  return result;
}

RANK_TEST(Overlapping, WindowsAreCopiedAsIfTheSourceWereReadFirst) {
  std::mt19937 random(static_cast<std::uint32_t>(pairs_seed()));
  const std::pair<Distribution, int> rules[] = {{Replicated(), -1}, {Slab(0), 0}, {Slab(1), 1}};
  for (const auto& [rule, cut_axis] : rules) {
    for (int memory = 0; memory < 5; ++memory) {
      for (int turn = 0; turn < 6; ++turn) {
        const Wrapped whole = numbered_in(context, rule, memory);
        const WindowPair pair = random_pair(random, cut_axis);
        Array destination = pair.destination(whole.array);
        if (turn % 2 == 1 && destination.local().space == MemorySpace::device) {
          copy(pair.source(whole.array), destination, Stream{});
        } else {
          copy(pair.source(whole.array), destination);
        }
        EXPECT_EQ(elements_of(whole.array), after_copy(pair))
            << rule.to_string() << ", memory " << memory << ": " << to_string(pair.shape) << " from "
            << to_string(pair.from) << " to " << to_string(pair.to)
            << (pair.transposed ? ", transposed" : "");
      }
    }
  }
}

RANK_TEST(Overlapping, PlainMemoryIsReversedInPlace) {
  std::vector<std::int32_t> numbers{0, 1, 2, 3, 4, 5, 6};
  View backwards = view(numbers);
  backwards.data = &numbers.back();
  backwards.strides = {-1};
  copy(context, backwards, view(numbers));
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{6, 5, 4, 3, 2, 1, 0}));
  copy(context, view(std::span(numbers).first(6)), view(std::span(numbers).last(6)));
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{6, 6, 5, 4, 3, 2, 1}));
  Array all = wrap(context, view(numbers), Replicated(), {7});
  copy(backwards, all);
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 6}));
}

/// The rows from `first` on, all but one of them: with so few rows, those of two windows meet on some ranks
/// only.
Array rows_from(const Array& whole, std::int64_t first) {
  return whole.window({first, 0}, {whole.shape()[0] - 1, whole.shape()[1]});
}

/// With arrays of two memories first, so that the ranks keep a plan for what follows.
RANK_TEST(Overlapping, WhatMeetsOnSomeRanksIsAnErrorOnAll) {
  const std::int64_t rows = context.size() + 2;
  Array a = zeros(context, {rows, 6}, Slab(0), Dtype::c128),
        b = zeros(context, {rows, 6}, Slab(0), Dtype::c128);
  fill_random(a, 1);
  const Array before = clone(a);
  Array upper = rows_from(a, 1), other = rows_from(b, 1);
  const Array lower = rows_from(a, 0);
  const FftOptions rows_alone{.axes = {1}};
  FFT transform(context, lower.operand(), upper.operand(), rows_alone);
  Redistribute plan(context, lower.operand(), upper.operand());
  const std::pair<const char*, std::function<void(Array&)>> calls[] = {
      {"redistribute_into", [&](Array& to) { redistribute_into(lower, to); }},
      {"Redistribute", [&](Array& to) { plan.execute(lower, to); }},
      {"fft_into", [&](Array& to) { fft_into(lower, to, rows_alone); }},
      {"FFT", [&](Array& to) { transform.execute(lower, to); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_NO_THROW(call(other)) << name;
    const auto text = same_error<ArgumentError>(context, [&, &call = call] { call(upper); });
    EXPECT_TRUE(contains(text, "overlap")) << name << ": " << text;
  }
  EXPECT_FALSE(context.failed());
  EXPECT_TRUE(compare(a, before).equal);
}

RANK_TEST(Overlapping, TransformsTellMemoryApartByItsElements) {
  Array a = zeros(context, {5, 5}, Replicated(), Dtype::c128);
  fill_random(a, 2);
  Array turned = a.permuted({1, 0});  // at the same address
  EXPECT_ERROR_ON_ALL(ArgumentError, fft_into(a, turned), "overlap");
  Array field = zeros(context, {4, 5}, Replicated(), Dtype::c128);
  fill_random(field, 3);
  std::vector<Array> outputs{field.window({0, 0}, {2, 5}), field.window({1, 0}, {2, 5})};
  const std::vector<Array> inputs{field.window({2, 0}, {2, 5}), field.window({0, 0}, {2, 5})};
  FFT rows(context, inputs[0].operand(), outputs[0].operand(), {.axes = {1}});
  EXPECT_TRUE(
      contains(same_error<ArgumentError>(context, [&] { rows.execute_batch(inputs, outputs); }), "overlap"));
}

RANK_TEST(Overlapping, ResultsOfSpectralCalls) {
  const Shape shape{6, 5};
  Array a = empty(context, shape, Slab(0), Dtype::f64), b = empty(context, shape, Slab(0), Dtype::f64);
  fill_random(a, 1), fill_random(b, 2);
  const Array wanted = convolve(a, b);
  convolve_into(a, b, b);  // both have been read
  EXPECT_LT(compare(b, wanted).largest_difference, 1e-12);
  std::vector<Array> results{b, b};
  EXPECT_ERROR_ON_ALL(ArgumentError, gradient_into(a, results), "overlap");
  const std::vector<Array> derivatives = gradient(a);
  results.front() = a;
  gradient_into(a, results);
  EXPECT_LT(compare(a, derivatives[0]).largest_difference, 1e-12);
  EXPECT_LT(compare(b, derivatives[1]).largest_difference, 1e-12);
}

RANK_TEST(Overlapping, MessagesAndGhostCells) {
  std::vector<double> numbers(12, 1.0);
  const View first = view(std::span(numbers).first(8)), last = view(std::span(numbers).last(8));
  const int rank = context.rank();
  EXPECT_TRUE(
      contains(caught<ArgumentError>([&] { send_receive(context, first, rank, last, rank); }), "overlap"));
  const Array part = wrap(context, first, Slab(0), {8 * context.size()});
  Halo halo(context, part.operand(), {.lower = {1}});
  std::vector<double> cells(16);
  copy(context, first, view(std::span(cells).first(8)));
  const Array moved = wrap(context, view(std::span(cells).first(8)), Slab(0), {8 * context.size()});
  const View extended = View::dense(cells.data(), Dtype::f64, halo.extended_shape());
  EXPECT_TRUE(
      contains(same_error<ArgumentError>(context, [&] { halo.execute(moved, extended); }), "overlap"));
}

}  // namespace
}  // namespace partita::testing
