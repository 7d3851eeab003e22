// Sorted arrays and the indices that sort them, against std::stable_sort of all elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/elements.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>
#include <partita/sorting.hpp>
#include <random>

#include "arithmetic/sorted_sequence.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

constexpr double unsorted_nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Dtype> sorted_dtypes{
    Dtype::boolean, Dtype::i8,   Dtype::u8,  Dtype::i16, Dtype::u16, Dtype::i32,  Dtype::u32,    Dtype::i64,
    Dtype::u64,     Dtype::bf16, Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c128, Dtype::f8e4m3, Dtype::c64};

bool dtype_has_nan(Dtype dtype) {
  return !is_integer(dtype) && dtype != Dtype::boolean;
}

/// Small integers that every dtype has, and NaNs where it has some.
std::vector<double> unsorted_numbers(std::int64_t count, Dtype dtype, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> found;
  const bool is_unsigned = is_integer(dtype) && !is_signed(dtype);
  const int least = is_unsigned || dtype == Dtype::boolean ? 0 : is_float8(dtype) ? -8 : -100;
  const unsigned many = dtype == Dtype::boolean ? 2 : is_float8(dtype) ? 17 : seed % 2 == 0 ? 201 : 9;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(random() % many) + least;
    found.push_back(dtype_has_nan(dtype) && random() % 9 == 0 ? unsorted_nan : x);
  }
  return found;
}

std::int64_t row_major_place(const Shape& shape, const Index& index) {
  std::int64_t place = 0;
  for (int d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
  return place;
}

/// The array of these elements in row-major order.
Array unsorted_array(Context& context, const std::vector<double>& elements, const Shape& shape,
                     const Distribution& distribution, Dtype dtype) {
  Array a = empty(context, shape, distribution);
  fill(a,
       [&](const Index& index) { return elements[static_cast<std::size_t>(row_major_place(shape, index))]; });
  return astype(a, dtype);
}

std::vector<double> all_elements_of(const Array& array) {
  const Array here = clone(array, {.space = MemorySpace::host});
  return to_vector<double>(astype(is_complex(here.dtype()) ? clone(real(here)) : here, Dtype::f64));
}

bool is_sorted_before(double a, double b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

/// The indices of a line in order.
std::vector<std::int64_t> order_of_line(const std::vector<double>& line, bool descending) {
  std::vector<std::int64_t> order(line.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    const double x = line[static_cast<std::size_t>(a)], y = line[static_cast<std::size_t>(b)];
    return descending ? is_sorted_before(y, x) : is_sorted_before(x, y);
  });
  return order;
}

/// Both results of lines along an axis, in row-major order.
struct SortedLines {
  std::vector<double> values, order;

  SortedLines(const std::vector<double>& elements, const Shape& shape, int axis, bool descending)
      : values(elements.size()), order(elements.size()) {
    const Strides strides = dense_strides(shape);
    const std::int64_t length = shape[axis], step = strides[axis];
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(elements.size()); ++first) {
      if (first / step % length != 0) continue;
      std::vector<double> line;
      for (std::int64_t i = 0; i < length; ++i)
        line.push_back(elements[static_cast<std::size_t>(first + i * step)]);
      const std::vector<std::int64_t> found = order_of_line(line, descending);
      for (std::int64_t i = 0; i < length; ++i) {
        const auto to = static_cast<std::size_t>(first + i * step);
        order[to] = static_cast<double>(found[static_cast<std::size_t>(i)]);
        values[to] = line[static_cast<std::size_t>(found[static_cast<std::size_t>(i)])];
      }
    }
  }
};

/// Equal, and NaN where NaN is.
void expect_same_numbers(const std::vector<double>& found, const std::vector<double>& wanted,
                         const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool same = found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]));
    ASSERT_TRUE(same) << what << ": " << found[i] << ", not " << wanted[i] << " at " << i;
  }
}

/// Of one dimension; some with empty parts.
std::vector<Distribution> divided_sequences(const Context& context, std::int64_t size) {
  const int ranks = context.size();
  std::vector<std::int64_t> last(static_cast<std::size_t>(ranks), 0), uneven{0};
  last.push_back(size);
  for (int rank = 1; rank < ranks; ++rank)
    uneven.push_back(std::min(size, std::int64_t{rank} * rank * size / 9));
  uneven.push_back(size);
  return {Slab(0), Replicated(), BlockCyclic({ranks}, 3), Box::from_cuts({last}), Box::from_cuts({uneven})};
}

std::string text_of_sort(const Array& a, bool descending) {
  return a.operand().to_string() + (descending ? " descending" : "");
}

void check_sorted_sequence(const Array& a, const std::vector<double>& elements) {
  for (const bool descending : {false, true}) {
    const SortedLines wanted(elements, a.shape(), 0, descending);
    const Array values = sort(a, {}, {.descending = descending});
    const Array order = argsort(a, 0, {.descending = descending});
    EXPECT_EQ(values.dtype(), a.dtype());
    EXPECT_EQ(order.dtype(), Dtype::i64);
    EXPECT_EQ(values.local().space, a.local().space);
    EXPECT_TRUE(values.layout() == a.layout());
    EXPECT_TRUE(order.layout() == a.layout());
    expect_same_numbers(all_elements_of(values), wanted.values, text_of_sort(a, descending));
    expect_same_numbers(all_elements_of(order), wanted.order, "order of " + text_of_sort(a, descending));
  }
  expect_same_numbers(all_elements_of(a), elements, "the array itself");
}

RANK_TEST(Sorting, SequencesOfEveryDtypeAndDistribution) {
  for (const Dtype dtype : sorted_dtypes) {
    for (const std::int64_t size : {6, 5000}) {
      const std::vector<double> elements = unsorted_numbers(size, dtype, static_cast<unsigned>(size + 1));
      for (const Distribution& distribution : divided_sequences(context, size))
        check_sorted_sequence(unsorted_array(context, elements, {size}, distribution, dtype), elements);
    }
  }
}

RANK_TEST(Sorting, SequencesOfEverySize) {
  for (const std::int64_t size : {0, 1, 2, 257, 4096, 4097, 20'000}) {
    for (const unsigned seed : {0U, 1U}) {
      for (const Dtype dtype : {Dtype::f32, Dtype::i64}) {
        const std::vector<double> elements = unsorted_numbers(size, dtype, seed);
        check_sorted_sequence(unsorted_array(context, elements, {size}, Slab(0), dtype), elements);
      }
    }
  }
}

/// All bits count: of elements that differ in each digit of their keys.
template <class T>
void check_sorted_bits(Context& context) {
  constexpr std::int64_t size = 30'000;
  std::vector<T> wanted;
  for (std::int64_t i = 0; i < size; ++i) {
    std::uint64_t bits = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U;
    bits ^= bits >> 29;
    T one{};
    std::memcpy(&one, &bits, sizeof one);
    wanted.push_back(one == one ? one : T{});
  }
  Array a =
      empty(context, {size}, BlockCyclic({context.size()}, 100), dtype_of<T>(), {.space = MemorySpace::host});
  fill(a, [&](const Index& index) { return wanted[static_cast<std::size_t>(index[0])]; });
  const std::vector<T> given = wanted;
  std::ranges::sort(wanted);
  EXPECT_EQ(to_vector<T>(sort(a)), wanted);
  const std::vector<std::int64_t> order = to_vector<std::int64_t>(argsort(a));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_EQ(given[static_cast<std::size_t>(order[i])], wanted[i]) << i;
}

RANK_TEST(Sorting, AllBitsOfElements) {
  check_sorted_bits<float>(context);
  check_sorted_bits<double>(context);
  check_sorted_bits<std::int32_t>(context);
  check_sorted_bits<std::uint64_t>(context);
  check_sorted_bits<std::int16_t>(context);
}

RANK_TEST(Sorting, AlongAxesOfEveryLayout) {
  const int ranks = context.size();
  for (const Shape& shape : {Shape{7, 5, 3}, Shape{2, 5000}, Shape{4500, 1}, Shape{3, 0, 2}}) {
    for (const Dtype dtype : {Dtype::f64, Dtype::i16, Dtype::f16}) {
      const std::vector<double> elements = unsorted_numbers(volume(shape), dtype, 5);
      std::vector<Distribution> rules{Slab(0), Slab(1), Replicated()};
      Extents grid = Extents::filled(shape.size(), 1), block = Extents::filled(shape.size(), 2);
      grid[0] = ranks;
      rules.push_back(BlockCyclic(ProcessGrid(grid), block));
      for (const Distribution& rule : rules) {
        const Array a = unsorted_array(context, elements, shape, rule, dtype);
        for (int axis = 0; axis < shape.size(); ++axis) {
          for (const bool descending : {false, true}) {
            const SortedLines wanted(elements, shape, axis, descending);
            const Array values = sort(a, axis, {.descending = descending});
            const Array order = argsort(a, axis, {.descending = descending});
            EXPECT_TRUE(values.layout() == a.layout() && order.layout() == a.layout());
            expect_same_numbers(all_elements_of(values), wanted.values, text_of_sort(a, descending));
            expect_same_numbers(all_elements_of(order), wanted.order,
                                "order of " + text_of_sort(a, descending));
          }
        }
        expect_same_numbers(all_elements_of(sort(a)),
                            SortedLines(elements, shape, shape.size() - 1, false).values, "last axis");
      }
    }
  }
}

RANK_TEST(Sorting, TransposedArraysAndWindows) {
  const Shape shape{60, 50};
  const std::vector<double> elements = unsorted_numbers(3000, Dtype::f32, 4);
  const Array a = unsorted_array(context, elements, shape, Slab(0), Dtype::f32);
  EXPECT_TRUE(allclose(transpose(sort(transpose(a), 1)), sort(a, 0), 0, 0) || std::isnan(sum<double>(a)));
  expect_same_numbers(all_elements_of(sort(transpose(a), 0)), all_elements_of(transpose(sort(a, 1))),
                      "transposed");
  const Array window = a.window({7, 3}, {40, 30});
  expect_same_numbers(all_elements_of(sort(window, 1)), all_elements_of(sort(clone(window), 1)), "window");
}

RANK_TEST(Sorting, FlatAndInOtherDistributions) {
  const Shape shape{30, 20, 10};
  for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
    const std::vector<double> elements = unsorted_numbers(volume(shape), dtype, 6);
    const SortedLines wanted(elements, {volume(shape)}, 0, false);
    for (const Distribution& rule :
         {Distribution(Slab(0)), Distribution(Slab(2)), Distribution(Replicated())}) {
      const Array a = unsorted_array(context, elements, shape, rule, dtype);
      EXPECT_TRUE(sort(a, {}, {.flat = true}).layout() == Layout(Slab(0), {volume(shape)}, context.size()));
      for (const Distribution& other : divided_sequences(context, volume(shape))) {
        const Array values = sort(a, {}, {.flat = true, .distribution = other});
        const Array order =
            argsort(a, {}, {.flat = true, .distribution = other, .residency = Residency::ordinary});
        EXPECT_TRUE(values.layout() == Layout(other, {volume(shape)}, context.size()));
        expect_same_numbers(all_elements_of(values), wanted.values, "flat");
        expect_same_numbers(all_elements_of(order), wanted.order, "flat order");
      }
    }
  }
  const Array one = full(context, {}, Replicated(), 3.0);
  EXPECT_EQ(all_elements_of(sort(one)), std::vector<double>{3});
  EXPECT_EQ(all_elements_of(argsort(one)), std::vector<double>{0});
  EXPECT_EQ(all_elements_of(sort(one, {}, {.flat = true})), std::vector<double>{3});
  EXPECT_EQ(argsort(one, {}, {.flat = true}).shape(), Shape{1});
}

/// Small parts of a sequence, cut and exchanged as large ones.
template <class T>
void check_small_parts(const Context& context, Dtype dtype, unsigned seed) {
  std::mt19937 random(seed);
  const auto ranks = static_cast<std::size_t>(context.size()),
             rank = static_cast<std::size_t>(context.rank());
  arithmetic::DividedSequence one{.dtype = dtype, .given = {0}, .wanted = {0}, .few = 0};
  for (std::size_t r = 0; r < ranks; ++r)
    one.given.push_back(one.given.back() + static_cast<int>(random() % 5));
  const std::int64_t size = one.given.back();
  for (std::size_t r = 1; r < ranks; ++r)
    one.wanted.push_back(std::min(size, one.wanted.back() + static_cast<int>(random() % 7)));
  one.wanted.push_back(size);
  std::vector<T> all;
  for (std::int64_t i = 0; i < size; ++i) all.push_back(static_cast<T>(random() % 4));
  one.mine = all.data() + one.given[rank];
  for (const bool order : {false, true}) {
    for (const bool descending : {false, true}) {
      const std::vector<std::int64_t> wanted = order_of_line({all.begin(), all.end()}, descending);
      std::vector<std::int64_t> memory(static_cast<std::size_t>(size + 1));
      one.result = memory.data();
      arithmetic::sort_sequence(context, {"test", order, descending}, one);
      for (std::int64_t i = one.wanted[rank]; i < one.wanted[rank + 1]; ++i) {
        const auto here = static_cast<std::size_t>(i - one.wanted[rank]);
        const std::int64_t place = wanted[static_cast<std::size_t>(i)];
        if (order) {
          EXPECT_EQ(memory[here], place);
        } else {
          EXPECT_EQ(static_cast<const T*>(one.result)[here], all[static_cast<std::size_t>(place)]);
        }
      }
    }
  }
}

RANK_TEST(Sorting, SmallPartsAreCutAsLargeOnes) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    check_small_parts<std::uint8_t>(context, Dtype::u8, seed);
    check_small_parts<float>(context, Dtype::f32, seed);
    check_small_parts<double>(context, Dtype::f64, seed);
    check_small_parts<std::int64_t>(context, Dtype::i64, seed);
  }
}

RANK_TEST(Sorting, Errors) {
  const Array a = zeros(context, {3, 2}, Slab(0)), b = zeros(context, {3, 2}, Slab(0), Dtype::f32);
  EXPECT_ERROR(ArgumentError, (void)sort(Array()), "sort: the array is an empty Array");
  EXPECT_ERROR(ArgumentError, (void)sort(a, 2), "sort: an array of 2 dimensions has no axis 2");
  EXPECT_ERROR(ArgumentError, (void)argsort(a, -1), "argsort: an array of 2 dimensions has no axis -1");
  EXPECT_ERROR(ArgumentError, (void)sort(a, 1, {.flat = true}),
               "sort: axis 1 of a flat sort, which has none");
  if (context.size() == 1) return;
  const bool is_other = context.rank() == 1;
  EXPECT_ERROR_ON_ALL(ArgumentError, sort(a, is_other ? 7 : 0), "an array of 2 dimensions has no axis 7",
                      "rank 1");
  EXPECT_ERROR_ON_ALL(DisagreementError, sort(a, is_other ? 1 : 0), "sort: the ranks disagree on axis");
  EXPECT_ERROR_ON_ALL(DisagreementError, sort(is_other ? b : a, 0), "sort: the ranks disagree on array",
                      "f32");
  EXPECT_ERROR_ON_ALL(DisagreementError, argsort(a, 0, {.descending = is_other}), "descending on rank 1");
}

RANK_TEST(Sorting, PartsThatRanksHaveSorted) {
  const auto ranks = static_cast<std::int64_t>(context.size()),
             rank = static_cast<std::int64_t>(context.rank());
  for (const std::int64_t each : {0, 5, 9000}) {  // elements of the first rank; the second has twice as many
    for (const bool descending : {false, true}) {
      const std::int64_t size = each * ranks * (ranks + 1) / 2;
      std::vector<double> all;
      for (std::int64_t i = 0; i < size; ++i) all.push_back(static_cast<double>(i * 7919 % 5003));
      const std::int64_t first = each * rank * (rank + 1) / 2, own = each * (rank + 1);
      std::vector<double> mine(all.begin() + first, all.begin() + first + own);
      std::ranges::sort(mine);
      std::ranges::sort(all);
      if (descending) {
        std::ranges::reverse(mine);
        std::ranges::reverse(all);
      }
      const std::int64_t begin = size * rank / ranks, end = size * (rank + 1) / ranks;
      std::vector<double> found(static_cast<std::size_t>(end - begin));
      exchange_sorted(context, view(mine), view(found), descending);
      EXPECT_EQ(found, std::vector<double>(all.begin() + begin, all.begin() + end));
      exchange_sorted(context, view(mine), view(mine), descending);  // in its own memory
      EXPECT_EQ(mine, std::vector<double>(all.begin() + first, all.begin() + first + own));
    }
  }
  std::vector<double> two(2), three(3);
  EXPECT_ERROR_ON_ALL(ArgumentError, exchange_sorted(context, view(two), view(three)),
                      "elements, but their destinations");
}

RANK_TEST(Sorting, CutsOfSortedParts) {
  const int ranks = context.size(), rank = context.rank();
  for (const bool descending : {false, true}) {
    std::vector<std::int32_t> mine;
    for (int i = 0; i < 100 * (rank + 1); ++i) mine.push_back((i * 7 + rank) % 13);
    std::ranges::sort(mine);
    if (descending) std::ranges::reverse(mine);
    const std::int64_t size = 50 * ranks * (ranks + 1);
    const std::vector<std::int64_t> positions{0, 1, size / 3, size / 2, size - 1, size, size + 5};
    const SortedCuts found = cut_sorted(context, view(mine), positions, descending);
    ASSERT_EQ(found.positions, 7);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      std::int64_t sum = 0;
      for (int r = 0; r < ranks; ++r) sum += found.cuts[static_cast<std::size_t>(r) * 7 + i];
      EXPECT_EQ(sum, std::min(positions[i], size));
      const std::int64_t cut = found.cuts[static_cast<std::size_t>(rank) * 7 + i];
      EXPECT_GE(cut, before);
      EXPECT_LE(found.below[static_cast<std::size_t>(rank) * 7 + i], cut);
      before = cut;
    }
  }
  std::vector<double> empty_part;
  EXPECT_EQ(cut_sorted(context, view(empty_part), std::vector<std::int64_t>{0, 3}).cuts,
            std::vector<std::int64_t>(static_cast<std::size_t>(2 * ranks), 0));
  EXPECT_ERROR(ArgumentError, (void)cut_sorted(context, view(empty_part), std::vector<std::int64_t>{-1}),
               "cut_sorted: position -1; positions are counted from 0");
  if (ranks == 1) return;
  std::vector<float> other;
  const std::vector<std::int64_t> first{0};
  EXPECT_ERROR_ON_ALL(DisagreementError,
                      cut_sorted(context, rank == 1 ? view(other) : view(empty_part), first),
                      "cut_sorted: the ranks disagree on dtype", "f32 on rank 1");
}

}  // namespace
}  // namespace partita::testing
