#include "base/half.hpp"
#include "kernels/host/copy.hpp"
#include "support/models/random_nest.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::Case;
using testing::Random;
using ByteBuffer = std::vector<std::byte>;

// An independent meaning of the reductions, written for clarity: elements as long double, wrapped back.
template <class T>
T expected_element(Reduction reduction, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (reduction == Reduction::sum) return a + b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  } else if (reduction == Reduction::sum) {
    const __uint128_t wide = static_cast<__uint128_t>(a) + static_cast<__uint128_t>(b);
    return static_cast<T>(wide);
  }
  return reduction == Reduction::min ? std::min(a, b) : std::max(a, b);
}

template <class T>
T load(const ByteBuffer& buffer, std::int64_t at) {
  T value;
  std::memcpy(&value, buffer.data() + at, sizeof value);
  return value;
}

template <class T>
void store(ByteBuffer& buffer, std::int64_t at, T value) {
  std::memcpy(buffer.data() + at, &value, sizeof value);
}

template <class T>
void reduce(Reduction reduction, const ByteBuffer& from, std::int64_t source, ByteBuffer& to,
            std::int64_t destination) {
  store(to, destination, expected_element(reduction, load<T>(to, destination), load<T>(from, source)));
}

template <class Half, Half (*round)(float)>
void reduce_half(Reduction reduction, const ByteBuffer& from, std::int64_t source, ByteBuffer& to,
                 std::int64_t destination) {
  const float a = to_float(load<Half>(to, destination));
  store(to, destination, round(expected_element(reduction, a, to_float(load<Half>(from, source)))));
}

template <class T>
void reduce_complex(Reduction, const ByteBuffer& from, std::int64_t source, ByteBuffer& to,
                    std::int64_t destination) {
  using Complex = std::complex<T>;
  store(to, destination, load<Complex>(to, destination) + load<Complex>(from, source));
}

void reduce_boolean(Reduction reduction, const ByteBuffer& from, std::int64_t source, ByteBuffer& to,
                    std::int64_t destination) {
  const bool a = load<std::uint8_t>(to, destination) != 0;
  const bool b = load<std::uint8_t>(from, source) != 0;
  store(to, destination, static_cast<std::uint8_t>(reduction == Reduction::min ? a && b : a || b));
}

using Reference = void (*)(Reduction, const ByteBuffer&, std::int64_t, ByteBuffer&, std::int64_t);

struct Row {
  Dtype dtype;
  Reference reference;
};

const Row rows[] = {
    {Dtype::boolean, reduce_boolean},
    {Dtype::i8, reduce<std::int8_t>},
    {Dtype::u8, reduce<std::uint8_t>},
    {Dtype::i16, reduce<std::int16_t>},
    {Dtype::u16, reduce<std::uint16_t>},
    {Dtype::i32, reduce<std::int32_t>},
    {Dtype::u32, reduce<std::uint32_t>},
    {Dtype::i64, reduce<std::int64_t>},
    {Dtype::u64, reduce<std::uint64_t>},
    {Dtype::f16, reduce_half<Float16, to_float16>},
    {Dtype::bf16, reduce_half<BFloat16, to_bfloat16>},
    {Dtype::f32, reduce<float>},
    {Dtype::f64, reduce<double>},
    {Dtype::c64, reduce_complex<float>},
    {Dtype::c128, reduce_complex<double>},
};

// Random bits, with the NaNs of the floating dtypes made equal so that whole buffers can be compared.
template <class T>
void tame(ByteBuffer& buffer, std::int64_t at) {
  if (std::isnan(load<T>(buffer, at))) store(buffer, at, std::numeric_limits<T>::quiet_NaN());
}

template <class Half, Half (*round)(float)>
void tame_half(ByteBuffer& buffer, std::int64_t at) {
  const float value = to_float(load<Half>(buffer, at));
  if (std::isnan(value)) store(buffer, at, round(std::numeric_limits<float>::quiet_NaN()));
}

void tame(Dtype dtype, ByteBuffer& buffer, std::int64_t at) {
  if (dtype == Dtype::boolean)
    store(buffer, at, static_cast<std::uint8_t>(load<std::uint8_t>(buffer, at) & 1));
  if (dtype == Dtype::f16) tame_half<Float16, to_float16>(buffer, at);
  if (dtype == Dtype::bf16) tame_half<BFloat16, to_bfloat16>(buffer, at);
  if (dtype == Dtype::f32 || dtype == Dtype::c64) tame<float>(buffer, at);
  if (dtype == Dtype::c64) tame<float>(buffer, at + 4);
  if (dtype == Dtype::f64 || dtype == Dtype::c128) tame<double>(buffer, at);
  if (dtype == Dtype::c128) tame<double>(buffer, at + 8);
}

// The sign of a NaN that a sum makes (inf - inf) is the machine's choice.
void tame_all(Dtype dtype, const kernels::StridedCopy& nest, ByteBuffer& buffer) {
  testing::for_each_item(nest, [&](std::int64_t, std::int64_t at) { tame(dtype, buffer, at); });
}

void expect_accumulated(Random& random, const Row& row, Reduction reduction, const Case& sample) {
  ByteBuffer from = testing::random_bytes(random, sample.from_bytes);
  ByteBuffer result = testing::random_bytes(random, sample.to_bytes);
  testing::for_each_item(sample.nest, [&](std::int64_t source, std::int64_t destination) {
    tame(row.dtype, from, source);
    tame(row.dtype, result, destination);
  });
  ByteBuffer expected = result;
  testing::for_each_item(sample.nest, [&](std::int64_t source, std::int64_t destination) {
    row.reference(reduction, from, source, expected, destination);
  });
  kernels::accumulate(kernels::simplify(sample.nest), row.dtype, reduction, from.data(), result.data());
  tame_all(row.dtype, sample.nest, expected);
  tame_all(row.dtype, sample.nest, result);
  ASSERT_TRUE(result == expected) << name(reduction) << " of " << name(row.dtype);
}

TEST(Accumulate, RandomNestsAgreeWithBruteForce) {
  Random random(1);
  for (const Row& row : rows) {
    for (const Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max}) {
      for (int i = 0; i < 40 && is_defined(reduction, row.dtype); ++i) {
        const std::int64_t most_loops = i % 2 == 0 ? 16 : 3;
        const Case sample = testing::random_case(random, size_of(row.dtype), most_loops, 3000);
        expect_accumulated(random, row, reduction, sample);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Accumulate, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double from[] = {nan, 1.0, nan, 2.0};
  for (const Reduction reduction : {Reduction::min, Reduction::max}) {
    double to[] = {0.0, nan, nan, 2.0};
    kernels::accumulate({32, 0, 0, {}}, Dtype::f64, reduction, from, to);
    EXPECT_TRUE(std::isnan(to[0]) && std::isnan(to[1]) && std::isnan(to[2]));
    EXPECT_EQ(to[3], 2.0);
  }
}

// Many contributions to one element: a loop that does not move the destination.
TEST(Accumulate, StandingDestinationCollectsAll) {
  std::int32_t from[100];
  for (int i = 0; i < 100; ++i) from[i] = i;
  std::int32_t to[2] = {};
  kernels::accumulate(kernels::simplify({4, 0, 0, {{50, 8, 0}, {2, 4, 4}}}), Dtype::i32, Reduction::sum, from,
                      to);
  EXPECT_EQ(to[0], 2450);
  EXPECT_EQ(to[1], 2500);
}

TEST(Accumulate, RefusesWhatIsNotDefined) {
  std::byte element[16] = {};
  EXPECT_THROW(kernels::accumulate({16, 0, 0, {}}, Dtype::c128, Reduction::min, element, element),
               ArgumentError);
  EXPECT_THROW(kernels::accumulate({12, 0, 0, {}}, Dtype::f64, Reduction::sum, element, element),
               ArgumentError);
}

}  // namespace
}  // namespace partita
