// Lines whose length has a large prime factor, against the definition of the transform.
#include "kernels/host/rader.hpp"

#include "kernels/host/rader_lines.hpp"
#include "support/models/naive_transform.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using testing::Number;
using testing::Numbers;

TEST(Rader, KnowsWhichLengthsHaveAConvolution) {
  EXPECT_EQ(kernels::largest_prime_factor(1), 1);
  EXPECT_EQ(kernels::largest_prime_factor(64), 2);
  EXPECT_EQ(kernels::largest_prime_factor(217), 31);
  EXPECT_EQ(kernels::largest_prime_factor(181), 181);
  EXPECT_EQ(kernels::largest_prime_factor(31 * 37 * 4), 37);
  for (const std::int64_t length : {17, 19, 34, 181, 217, 323, 65521})
    EXPECT_TRUE(kernels::has_rader(length)) << length;
  // Small factors only; the large one twice; too long.
  for (const std::int64_t length : {1, 2, 13, 16, 143, 256, 289, 17 * 17 * 2, 65537}) {
    EXPECT_FALSE(kernels::has_rader(length)) << length;
    EXPECT_FALSE(kernels::rader(length).has_value()) << length;
    EXPECT_FALSE(
        kernels::rader_pays(TransformKind::complex_forward, kernels::FftwPrecision::f64, length, true))
        << length;
  }
}

TEST(Rader, IsForComplexTransforms) {
  EXPECT_TRUE(kernels::rader_pays(TransformKind::complex_forward, kernels::FftwPrecision::f32, 181, false));
  EXPECT_TRUE(kernels::rader_pays(TransformKind::complex_backward, kernels::FftwPrecision::f64, 181, false));
  EXPECT_FALSE(kernels::rader_pays(TransformKind::real_to_complex, kernels::FftwPrecision::f64, 181, false));
  EXPECT_FALSE(kernels::rader_pays(TransformKind::complex_to_real, kernels::FftwPrecision::f64, 181, false));
  // With zeros behind, too long.
  EXPECT_FALSE(
      kernels::rader_pays(TransformKind::complex_forward, kernels::FftwPrecision::f64, 10007, false));
  EXPECT_TRUE(kernels::rader_pays(TransformKind::complex_forward, kernels::FftwPrecision::f64, 12289, false));
  EXPECT_FALSE(kernels::rader_pays(TransformKind::dct2, kernels::FftwPrecision::f64, 181, false));
}

TEST(Rader, IndicesAreReadAndWrittenOnce) {
  for (const std::int64_t length : {17, 23, 34, 181, 217, 465, 1147}) {
    const kernels::Rader form = *kernels::rader(length);
    std::vector<std::int64_t> read = form.convolved, written = form.results;
    read.insert(read.end(), form.first.begin(), form.first.end());
    std::ranges::sort(read);
    std::ranges::sort(written);
    ASSERT_EQ(static_cast<std::int64_t>(read.size()), length);
    ASSERT_EQ(static_cast<std::int64_t>(written.size()), length);
    for (std::int64_t i = 0; i < length; ++i) {
      EXPECT_EQ(read[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(written[static_cast<std::size_t>(i)], i);
    }
  }
}

std::unique_ptr<char, decltype(&std::free)> workspace_of(const kernels::Lines& lines) {
  const auto bytes = static_cast<std::size_t>((lines.workspace_bytes() + 63) / 64 * 64);
  return {static_cast<char*>(std::aligned_alloc(64, bytes)), &std::free};
}

/// `lines` lines of random numbers, next to each other (`across`) or one after the other, with a gap.
template <class Real>
void expect_transform(std::int64_t length, std::int64_t lines, TransformKind kind, bool across, bool in_place,
                      bool measure) {
  SCOPED_TRACE(::testing::Message() << length << " points, " << lines << " lines, kind "
                                    << static_cast<int>(kind) << (across ? ", across" : "")
                                    << (in_place ? ", in place" : "") << ", " << sizeof(Real) << " bytes");
  std::mt19937_64 random(static_cast<std::uint64_t>(length));
  std::uniform_real_distribution<float> number(-1, 1);
  const kernels::FftwLoop line =
      across ? kernels::FftwLoop{length, lines + 1, lines + 1} : kernels::FftwLoop{length, 1, 1};
  const kernels::FftwLoop batch =
      across ? kernels::FftwLoop{lines, 1, 1} : kernels::FftwLoop{lines, length + 1, length + 1};
  const auto size = static_cast<std::size_t>((length + 1) * (lines + 1));
  std::vector<std::complex<Real>> from(size, 7), to(size, 7);
  Numbers numbers{{lines, length}, {}};
  for (std::int64_t l = 0; l < lines; ++l) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::complex<Real> value(static_cast<Real>(number(random)), static_cast<Real>(number(random)));
      from[static_cast<std::size_t>(l * batch.from_stride + i * line.from_stride)] = value;
      numbers.values.emplace_back(value);
    }
  }
  const Numbers expected = testing::transform_axis(kind, length, 1, numbers);
  const kernels::FftwPrecision precision =
      sizeof(Real) == 8 ? kernels::FftwPrecision::f64 : kernels::FftwPrecision::f32;
  const auto made = kernels::rader_lines(kind, precision, line, {batch}, measure);
  const auto workspace = workspace_of(*made);
  std::vector<std::complex<Real>>& result = in_place ? from : to;
  made->run(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(result.data()),
            workspace.get(), 0.5);
  long double difference = 0, norm = 0;
  for (std::int64_t l = 0; l < lines; ++l) {
    for (std::int64_t i = 0; i < length; ++i) {
      const Number wanted = expected.values[static_cast<std::size_t>(l * length + i)] * 0.5L;
      auto& there = result[static_cast<std::size_t>(l * batch.to_stride + i * line.to_stride)];
      difference += std::norm(Number(there) - wanted);
      norm += std::norm(wanted);
      there = 7;
    }
  }
  const auto epsilon = static_cast<long double>(std::numeric_limits<Real>::epsilon());
  const long double tolerance = epsilon * std::log2(static_cast<long double>(length));
  EXPECT_LE(std::sqrt(difference / norm), tolerance);
  EXPECT_TRUE(std::ranges::all_of(result, [](const auto& x) { return x == std::complex<Real>(7); }))
      << "something outside of the lines was written";
}

/// All primes up to some, with convolutions of length p - 1 and with zeros behind, whole and broken
/// blocks of lines.
TEST(Rader, PrimeLengthsAgreeWithTheDefinition) {
  std::int64_t lines = 1;
  for (std::int64_t length = 17; length < 260; ++length) {
    if (kernels::largest_prime_factor(length) != length) continue;
    const bool across = length % 4 == 1, in_place = length % 3 == 1;
    const auto kind = length % 8 < 4 ? TransformKind::complex_forward : TransformKind::complex_backward;
    expect_transform<double>(length, lines, kind, across, in_place, false);
    expect_transform<float>(length, lines, kind, !across, in_place, false);
    lines = lines % 5 + 1;
  }
}

TEST(Rader, LengthsWithALargePrimeFactorAgreeWithTheDefinition) {
  for (const std::int64_t length : {34, 51, 94, 217, 272, 310, 323, 413}) {
    for (const auto kind : {TransformKind::complex_forward, TransformKind::complex_backward}) {
      expect_transform<double>(length, 6, kind, true, false, false);
      expect_transform<float>(length, 9, kind, false, true, false);
    }
  }
}

TEST(Rader, MeasuredPlansGiveTheSame) {
  for (const std::int64_t length : {23, 31, 47, 181, 217}) {
    expect_transform<double>(length, 5, TransformKind::complex_forward, true, true, true);
    expect_transform<float>(length, 5, TransformKind::complex_backward, false, false, true);
    // Whatever it says, it says it again.
    const auto pays = [&] {
      return kernels::rader_pays(TransformKind::complex_forward, kernels::FftwPrecision::f64, length, true);
    };
    EXPECT_EQ(pays(), pays());
  }
}

TEST(Rader, LinesThatMoveInPlaceAreRefused) {
  const auto made = kernels::rader_lines(TransformKind::complex_forward, kernels::FftwPrecision::f64,
                                         {17, 1, 2}, {}, false);
  std::vector<std::complex<double>> values(34);
  const auto workspace = workspace_of(*made);
  char* const data = reinterpret_cast<char*>(values.data());
  EXPECT_THROW(made->run(data, data, workspace.get(), 1), UnsupportedError);
}

}  // namespace
}  // namespace partita
