// Elementwise operations of arrays against brute force, in every layout, memory and dtype.
#include "support/fakes/fake_device.hpp"
#include "support/models/number_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using ArithmeticFunction = void (*)(const ArrayOrScalar&, const ArrayOrScalar&, Array&,
                                    std::optional<Stream>);
constexpr ArithmeticFunction arithmetic_functions[] = {add, subtract, multiply, divide};

bool has_inverse(Dtype dtype) {
  return dtype != Dtype::boolean;
}

Number expected(std::size_t operation, Number x, Number y, Dtype dtype) {
  const bool whole = is_integer(dtype);
  if (dtype == Dtype::boolean) return operation == 0 ? x != 0.0 || y != 0.0 : x != 0.0 && y != 0.0;
  switch (operation) {
    case 0:
      return x + y;
    case 1:
      return x - y;
    case 2:
      return x * y;
    default:
      return whole ? Number(std::trunc(x.real() / y.real())) : x / y;
  }
}

double tolerance(Dtype dtype) {
  if (dtype == Dtype::f16) return 1e-3;
  if (dtype == Dtype::bf16) return 1e-2;
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 1e-6 : 1e-14;
}

/// Of shape `full`; `a` and `b` are broadcast.
void expect_elements(const std::vector<Number>& found, const Array& a, const Array& b, const Shape& full,
                     const std::function<Number(Number, Number)>& value) {
  const std::vector<Number> x = whole_numbers(a), y = whole_numbers(b);
  const auto at = [&](const std::vector<Number>& numbers, const Shape& shape, const Index& index) {
    std::int64_t number = 0;
    for (int i = 0; i < shape.size(); ++i) {
      const std::int64_t here = shape[i] == 1 ? 0 : index[i + full.size() - shape.size()];
      number = number * shape[i] + here;
    }
    return numbers[static_cast<std::size_t>(number)];
  };
  ASSERT_EQ(static_cast<std::int64_t>(found.size()), volume(full));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Index index = index_of(static_cast<std::int64_t>(i), full);
    const Number wanted = value(at(x, a.shape(), index), at(y, b.shape(), index));
    if (std::abs(found[i] - wanted) > tolerance(a.dtype()) * std::max(1.0, std::abs(wanted))) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

void write_positive(Array& array, int shift) {
  write_numbers(array, [&](std::int64_t i) { return 1 + (i * 3 + shift) % 7; });
}

RANK_TEST(Elementwise, EveryDtypeInEveryLayoutAndMemory) {
  const Shape shape{5, 4, 7};
  int memory = 0;
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    const Layout layout(distribution, shape, context.size());
    for (const Dtype dtype : every_dtype) {
      const MemorySpace space = context.state()->default_space();
      const auto make = [&] {
        const int kind = memory++ % 5;
        return make_array(context, layout, dtype, kind == 3 && space == MemorySpace::device ? 4 : kind);
      };
      Wrapped a = make(), b = make(), to = make();
      write_positive(a.array, 2);
      write_positive(b.array, 0);
      for (std::size_t operation = 0; operation < 4; ++operation) {
        SCOPED_TRACE(distribution.to_string() + " " + std::string(name(dtype)) + " " +
                     std::to_string(operation));
        if (!has_inverse(dtype) && operation % 2 == 1) {
          EXPECT_THROW(arithmetic_functions[operation](a.array, b.array, to.array, {}), ArgumentError);
          continue;
        }
        if (operation == 1 && is_integer(dtype) && !is_signed(dtype)) continue;  // wraps around
        arithmetic_functions[operation](a.array, b.array, to.array, {});
        expect_elements(whole_numbers(to.array), a.array, b.array, shape,
                        [&](Number x, Number y) { return expected(operation, x, y, dtype); });
      }
    }
  }
}

RANK_TEST(Elementwise, ScaleAndAxpy) {
  for (const Dtype dtype :
       {Dtype::i32, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    SCOPED_TRACE(name(dtype));
    Array x = empty(context, {1031, 3}, BlockCyclic(ProcessGrid({context.size(), 1}), {4, 1}), dtype);
    Array y =
        empty(context, x.layout(), dtype, {.residency = Residency::ordinary, .order = Order::column_major});
    write_positive(x, 1);
    write_positive(y, 4);
    Array before = y + 0;
    axpy(3, x, y);
    expect_elements(whole_numbers(y), x, before, x.shape(), [](Number u, Number v) { return 3.0 * u + v; });
    before = y + 0;
    scale(y, -2);
    expect_elements(whole_numbers(y), x, before, x.shape(), [](Number, Number v) { return -2.0 * v; });
  }
  Array z = empty(context, {9}, Slab(0), Dtype::c64);
  fill(z, std::complex<float>(1, 2));
  scale(z, std::complex<double>(0, 1));
  EXPECT_EQ(sum<Number>(z), Number(-18, 9));
}

RANK_TEST(Elementwise, BroadcastAlongAxes) {
  const Shape shape{5, 4, 7};
  const std::vector<Shape> others{{7}, {4, 1}, {1, 4, 7}, {5, 1, 1}, {1}, {}};
  int turn = 0;
  for (const Distribution& distribution : three_dimensional(shape, context.size())) {
    for (const Shape& other : others) {
      SCOPED_TRACE(distribution.to_string() + " and " + to_string(other));
      const Dtype dtype = turn % 2 == 0 ? Dtype::f64 : Dtype::i16;
      const std::size_t operation = static_cast<std::size_t>(turn++ % 3);
      Array a = empty(context, shape, distribution, dtype);
      Array b = empty(context, other, Replicated{}, dtype);
      write_positive(a, 1);
      write_positive(b, 5);
      const Array result = operation == 0 ? a + b : operation == 1 ? b - a : a * b;
      EXPECT_TRUE(result.layout().equivalent(a.layout()));
      const auto value = [&](Number x, Number y) {
        return operation == 1 ? y - x : expected(operation, x, y, dtype);
      };
      expect_elements(whole_numbers(result), a, b, shape, value);
      Array destination = empty(context, shape, distribution, dtype, {.order = Order::column_major});
      add(b, a, destination);
      expect_elements(whole_numbers(destination), a, b, shape, std::plus<>());
    }
  }
}

RANK_TEST(Elementwise, BroadcastOfWhatIsLaidOutAlike) {
  const std::string ranks = std::to_string(context.size());
  Array matrix = empty(context, {6, 11}, Distribution::parse("mesh:r=" + ranks + ":-,r"), Dtype::f32);
  Array row = empty(context, {11}, Distribution::parse("mesh:r=" + ranks + ":r"), Dtype::f32);
  write_positive(matrix, 0);
  write_positive(row, 3);
  expect_elements(whole_numbers(matrix / row), matrix, row, {6, 11}, std::divides<>());
  expect_elements(whole_numbers(row / matrix), row, matrix, {6, 11}, std::divides<>());
  // columns to length 1: the sums have the layout of the matrix without its rows
  const Array squares = sum(matrix * matrix, {0});
  const Array one = matrix * matrix / squares;
  for (const Number x : whole_numbers(sum(one, {0}))) EXPECT_NEAR(x.real(), 1, 1e-6);
  // an outer product of what every rank has whole
  Array column = empty(context, {6, 1}, Replicated{}, Dtype::f32);
  Array whole_row = empty(context, {11}, Replicated{}, Dtype::f32);
  write_positive(column, 1);
  write_positive(whole_row, 2);
  const Array outer = column * whole_row;
  EXPECT_EQ(outer.layout().distribution(), Distribution(Replicated{}));
  expect_elements(whole_numbers(outer), column, whole_row, {6, 11}, std::multiplies<>());
}

RANK_TEST(Elementwise, WindowsOfCyclicBlocksBesideWholeArrays) {
  const Layout whole(BlockCyclic(ProcessGrid({1, context.size()}), {2, 3}), {9, 31}, context.size());
  Array x = empty(context, whole.window({1, 4}, {6, 23}), Dtype::f64);
  Array row = empty(context, {23}, Replicated{}, Dtype::f64);
  write_positive(x, 1);
  write_positive(row, 2);
  expect_elements(whole_numbers(x * row), x, row, x.shape(), std::multiplies<>());
}

RANK_TEST(Elementwise, Operators) {
  Array x = empty(context, {8, 9}, Slab(1), Dtype::f64);
  Array everywhere = empty(context, {8, 9}, Replicated{}, Dtype::f64);
  write_positive(x, 1);
  write_positive(everywhere, 2);
  EXPECT_TRUE((x + everywhere).layout().equivalent(x.layout()));
  EXPECT_TRUE((everywhere + x).layout().equivalent(x.layout()));
  const Array result = 2 * x - x / 4.0 + 1.5;
  expect_elements(whole_numbers(result), x, x, x.shape(),
                  [](Number u, Number) { return 2.0 * u - u / 4.0 + 1.5; });
  expect_elements(whole_numbers(1 / x), x, x, x.shape(), [](Number u, Number) { return 1.0 / u; });
  Array y = x + 0;
  y += x;
  y *= 3;
  y -= everywhere;
  y /= 2.0;
  expect_elements(whole_numbers(y), x, everywhere, x.shape(),
                  [](Number u, Number v) { return (6.0 * u - v) / 2.0; });
}

RANK_TEST(Elementwise, IntegersWrapAroundAndAreCut) {
  const std::int8_t least = std::numeric_limits<std::int8_t>::min();
  Array a = empty(context, {4}, Replicated{}, Dtype::i8), b = empty(context, {4}, Replicated{}, Dtype::i8);
  const auto set = [](Array& array, std::array<double, 4> values) {
    write_numbers(array, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
  };
  set(a, {-7, 5, double{least}, 100});
  set(b, {2, 0, -1, 100});
  EXPECT_EQ(whole_numbers(a / b), (std::vector<Number>{-3.0, 0.0, double{least}, 1.0}));
  EXPECT_EQ(whole_numbers(a + b), (std::vector<Number>{-5.0, 5.0, 127.0, -56.0}));
  EXPECT_EQ(whole_numbers(a * b), (std::vector<Number>{-14.0, 0.0, double{least}, 16.0}));
  EXPECT_EQ(whole_numbers(a - b), (std::vector<Number>{-9.0, 5.0, -127.0, 0.0}));
}

RANK_TEST(Elementwise, ErrorsSayWhatHelps) {
  Array x = zeros(context, {6, 6}, Slab(0), Dtype::f32);
  Array doubles = zeros(context, {6, 6}, Slab(0), Dtype::f64);
  EXPECT_ERROR(ArgumentError, add(x, doubles, x), "astype");
  EXPECT_ERROR(ArgumentError, (x + doubles), "astype");
  Array whole = zeros(context, {6, 6}, Slab(0), Dtype::i32);
  EXPECT_ERROR(ArgumentError, scale(whole, 0.5), "astype");
  EXPECT_ERROR(ArgumentError, (whole * 0.5), "astype");
  EXPECT_THROW(scale(x, std::complex<double>(0, 1)), ArgumentError);
  EXPECT_THROW(add(1, 2, x), ArgumentError);
  EXPECT_THROW(add(x, Array(), x), ArgumentError);
  EXPECT_THROW((void)(x + zeros(context, {5}, Replicated{}, Dtype::f32)), ArgumentError);
  Array small = zeros(context, {6}, Replicated{}, Dtype::f32);
  EXPECT_THROW(add(x, small, small), ArgumentError);  // larger than the destination
  if (context.size() > 1) {
    const Array columns = zeros(context, {6, 6}, Slab(1), Dtype::f32);
    for (const auto& action : {std::function<void()>([&] { add(x, columns, x); }),
                               std::function<void()>([&] { (void)(x + columns); })}) {
      const std::string text = caught<ArgumentError>(action);
      EXPECT_TRUE(contains(text, "slab:0") && contains(text, "slab:1") && contains(text, "redistribute"))
          << text;
    }
    const std::string mesh = "mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r";
    Array partial = zeros(context, {6, 6}, Distribution::parse(mesh), Dtype::f32);
    EXPECT_ERROR(ArgumentError, scale(partial, 2), "redistribute");
  }
  EXPECT_EQ(sum<double>(x), 0);  // the context is as before
}

RANK_TEST(Elementwise, RanksThatDifferAreToldSo) {
  if (context.size() == 1) GTEST_SKIP() << "needs two ranks";
  const bool first = context.rank() == 0;
  const Array rows = zeros(context, {4, 4}, Slab(0), Dtype::f64);
  EXPECT_THROW((void)(first ? rows + rows : rows - rows), DisagreementError);
  EXPECT_THROW((void)(rows + (first ? 1.0 : 2.0)), DisagreementError);
  EXPECT_THROW((void)sum(rows.window({0, first ? 0 : 1}, {2, 2})), DisagreementError);
  const std::string mesh = "mesh:r=" + std::to_string(context.size()) + ":-,-;partial=sum:r";
  const Array partial = zeros(context, {4, 4}, Distribution::parse(mesh), Dtype::f64);
  const std::string text = caught<DisagreementError>([&] { (void)(rows + (first ? partial : rows)); });
  EXPECT_TRUE(contains(text, "is partial")) << text;  // what rank 0 found
  EXPECT_EQ(sum<double>(rows + 1), 16);
}

RANK_TEST(Elementwise, AnOperandMayBeTheDestinationButNotOverlapIt) {
  Array x = zeros(context, {8, 6}, Replicated{}, Dtype::f64,
                  {.residency = Residency::ordinary, .space = MemorySpace::host});
  EXPECT_NO_THROW(add(x, x, x));
  View row = x.local();
  row.extents = {6};
  row.strides = {1};
  const Array inside = wrap(context, row, Layout(Replicated{}, {6}, context.size()));
  EXPECT_ERROR(ArgumentError, subtract(x, inside, x), "overlap");
  int not_a_stream = 0;
  EXPECT_THROW(scale(x, 2, Stream{&not_a_stream}), UnsupportedError);
  EXPECT_THROW((void)sum(x, Stream{&not_a_stream}), UnsupportedError);
}

RANK_TEST(Elementwise, StreamsAreKept) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  const FakeStream stream;
  Array x = zeros(context, {700, 3}, Slab(0), Dtype::f64), y = zeros(context, {700, 3}, Slab(0), Dtype::f64);
  for (int round = 1; round <= 5; ++round) {
    delay_fake_stream(stream.stream(), std::chrono::microseconds(500));
    add(x, 1, x, stream.stream());
    axpy(2, x, y, stream.stream());
    EXPECT_EQ(sum<double>(x), 2100.0 * round);  // what comes next in the context follows
    EXPECT_EQ(max<double>(y, stream.stream()), round * (round + 1));
    const Array columns = sum(y, {0}, {.stream = stream.stream()});
    EXPECT_EQ(sum<double>(columns), 2100.0 * round * (round + 1));
  }
  begin_fake_capture(stream.stream());
  scale(x, 2, stream.stream());
  EXPECT_THROW((void)sum(x, stream.stream()), UnsupportedError);
  EXPECT_THROW((void)sum(x, {0}, {.stream = stream.stream()}), UnsupportedError);
  const auto graph = end_fake_capture(stream.stream());
  for (int start = 0; start < 3; ++start) start_fake_graph(*graph, stream.stream());
  context.synchronize(stream.stream());
  EXPECT_EQ(sum<double>(x), 2100.0 * 5 * 8);
}

}  // namespace
}  // namespace partita::testing
