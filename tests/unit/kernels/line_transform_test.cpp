// The kernel that transforms lines into the memory of several owners, as plain code, against the definition.
#include "support/models/lines_here.hpp"
#include "support/models/naive_transform.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using kernels::cuda::LineTransform;

/// Lines of [groups][length][neighbours], or of [groups][neighbours][length] where they are contiguous, into
/// arrays of the same order whose lines are cut at random, with room between rows: of one neighbour where
/// that makes rows `even`, so that of an odd number of lines the last is alone in its value; else at random.
template <class Real>
class Lines {
 public:
  Lines(std::mt19937_64& random, std::int64_t length, std::int64_t neighbours, bool contiguous, bool even,
        int pieces)
      : random_(random),
        length_(length),
        neighbours_(neighbours),
        row_(neighbours + (even ? neighbours % 2 : 0)),
        contiguous_(contiguous),
        even_(even) {
    std::uniform_real_distribution<double> any(-1, 1);
    from_.resize(static_cast<std::size_t>(groups * row_ * length));
    for (Complex& number : from_) number = {static_cast<Real>(any(random)), static_cast<Real>(any(random))};
    what_.single = sizeof(Real) == sizeof(float);
    what_.length = length;
    what_.scale = 0.5;
    what_.from = from_.data();
    what_.from_along = contiguous ? 1 : row_;
    what_.from_apart = contiguous ? length : 1;
    what_.neighbours = neighbours;
    what_.loops = 1;
    what_.counts[0] = groups;
    what_.from_strides[0] = length * row_;
    cut(pieces);
  }

  void run(bool backward) {
    what_.backward = backward;
    transform_lines_here(what_);
  }

  /// Relative, in the Euclidean norm; NaN where something was not written.
  double error() const {
    const auto weights = weights_of(
        what_.backward ? TransformKind::complex_backward : TransformKind::complex_forward, length_);
    long double difference = 0, size = 0;
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t i = 0; i < neighbours_; ++i) {
        for (std::int64_t k = 0; k < length_; ++k) {
          Number sum = 0;
          for (std::int64_t j = 0; j < length_; ++j)
            sum += Number(from(g, i, j)) * weights[static_cast<std::size_t>(k * length_ + j)];
          sum *= 0.5L;
          difference += std::norm(Number(to(g, i, k)) - sum);
          size += std::norm(sum);
        }
      }
    }
    return static_cast<double>(std::sqrt(difference / size));
  }

  /// Elements of owners that belong to no line.
  bool left_the_rest() const {
    std::int64_t written = 0;
    for (const std::vector<Complex>& owner : owners_)
      written += std::ranges::count_if(owner, [](const Complex& number) { return number == number; });
    return written == groups * neighbours_ * length_;
  }

 private:
  using Complex = std::complex<Real>;
  static constexpr std::int64_t groups = 3;

  void cut(int pieces) {
    std::vector<std::int64_t> firsts(static_cast<std::size_t>(length_) - 1);
    std::iota(firsts.begin(), firsts.end(), 1);
    std::ranges::shuffle(firsts, random_);
    firsts.resize(std::min(firsts.size(), static_cast<std::size_t>(pieces) - 1));
    firsts.push_back(0);
    std::ranges::sort(firsts);
    what_.pieces = static_cast<int>(firsts.size());
    for (std::size_t p = 0; p < firsts.size(); ++p) {
      const std::int64_t end = p + 1 < firsts.size() ? firsts[p + 1] : length_;
      const std::int64_t held = end - firsts[p];
      const std::int64_t gap = even_ ? 0 : static_cast<std::int64_t>(random_() % 3);
      LineTransform::Piece& piece = what_.piece[p];
      piece.first = firsts[p];
      piece.along = contiguous_ ? 1 : row_ + gap;
      piece.apart = contiguous_ ? held + gap : 1;
      piece.strides[0] = contiguous_ ? piece.apart * row_ : piece.along * held;
      constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
      owners_.emplace_back(static_cast<std::size_t>(groups * piece.strides[0]), Complex(nan, nan));
    }
    for (std::size_t p = 0; p < firsts.size(); ++p) what_.piece[p].to = owners_[p].data();
  }

  Complex from(std::int64_t group, std::int64_t line, std::int64_t position) const {
    return from_[static_cast<std::size_t>(group * what_.from_strides[0] + line * what_.from_apart +
                                          position * what_.from_along)];
  }
  Complex to(std::int64_t group, std::int64_t line, std::int64_t position) const {
    int p = what_.pieces - 1;
    while (what_.piece[p].first > position) --p;
    const LineTransform::Piece& piece = what_.piece[p];
    return owners_[static_cast<std::size_t>(p)][static_cast<std::size_t>(
        group * piece.strides[0] + line * piece.apart + (position - piece.first) * piece.along)];
  }

  std::mt19937_64& random_;
  std::int64_t length_, neighbours_, row_;
  bool contiguous_, even_;
  std::vector<Complex> from_;
  std::vector<std::vector<Complex>> owners_;
  LineTransform what_;
};

template <class Real>
void expect_right(std::int64_t longest) {
  std::mt19937_64 random(5);
  constexpr auto rounding = static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (std::int64_t length = 2; length <= longest; length *= 2) {
    const int rounds = length <= 64 ? 12 : 3;
    for (int round = 0; round < rounds; ++round) {
      const bool contiguous = round % 3 == 2;
      const auto neighbours = static_cast<std::int64_t>(length <= 128 ? 1 + random() % 20 : 1 + random() % 3);
      const bool even = random() % 2 == 0;
      Lines<Real> lines(random, length, neighbours, contiguous, even, 1 + static_cast<int>(random() % 5));
      lines.run(round % 2 == 1);
      SCOPED_TRACE(std::to_string(length) + " x " + std::to_string(neighbours));
      EXPECT_LT(lines.error(), rounding * std::log2(2.0 * static_cast<double>(length)));
      EXPECT_TRUE(lines.left_the_rest());
    }
  }
}

TEST(LineTransform, LinesGoToTheirOwnersInSinglePrecision) {
  expect_right<float>(512);
}

TEST(LineTransform, LinesGoToTheirOwnersInDoublePrecision) {
  expect_right<double>(512);
}

/// Of H100's 132 multiprocessors: 264 blocks of 64 KiB at once, 528 of 32.
TEST(LineTransform, BlocksLeaveEachOtherRoom) {
  const auto blocks = [](double link_share, bool over_links, std::int64_t tiles, std::int64_t tile_kib) {
    LineTransform what;
    what.link_share = link_share;
    what.over_links = over_links;
    return kernels::cuda::blocks_of_lines(what, tiles, tile_kib * 1024, 132 * 4 * 32 / tile_kib, 132);
  };
  constexpr std::int64_t many = 264 * 528 * 1000;
  EXPECT_EQ(blocks(0, false, many, 64), 264);
  EXPECT_EQ(blocks(0.5, true, many, 64), 99);  // twice as much is sent over links as of a quarter
  EXPECT_EQ(blocks(0.75, true, many, 64), 66);
  EXPECT_EQ(blocks(0.5, true, many, 32), 198);  // more of smaller tiles, but half of the device at most
  EXPECT_EQ(blocks(0.5, true, many, 128), 66);
  for (const std::int64_t kib : {32, 64, 128}) {
    EXPECT_LE(blocks(0.5, true, many, kib) + blocks(0.5, false, many, kib), blocks(0, false, many, kib));
  }
  EXPECT_EQ(blocks(0.5, true, 100, 64), 50);  // two each
  EXPECT_EQ(blocks(0.5, true, 5, 64), 5);
  EXPECT_EQ(blocks(0.5, true, 0, 64), 0);
}

/// Against the sum over a few results: the definition of all would take long.
TEST(LineTransform, TheLongestLines) {
  for (const std::int64_t length : {1024, 2048}) {
    std::mt19937_64 random(7);
    std::vector<std::complex<double>> from(static_cast<std::size_t>(length)), to(from.size());
    std::uniform_real_distribution<double> any(-1, 1);
    for (auto& number : from) number = {any(random), any(random)};
    LineTransform what;
    what.length = length;
    what.from = from.data();
    what.from_along = 1;
    what.from_apart = length;
    what.pieces = 1;
    what.piece[0].to = to.data();
    what.piece[0].apart = length;
    transform_lines_here(what);
    for (int round = 0; round < 40; ++round) {
      const auto k = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length));
      Number sum = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        sum +=
            Number(from[static_cast<std::size_t>(j)]) * weight(TransformKind::complex_forward, length, j, k);
      }
      EXPECT_LT(std::abs(sum - Number(to[static_cast<std::size_t>(k)])), 1e-12L) << length << ", " << k;
    }
  }
}

}  // namespace
}  // namespace partita::testing
