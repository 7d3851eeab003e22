#include "array/overlap.hpp"

#include "support/test.hpp"

namespace partita {
namespace {

std::set<const double*> elements(const View& view) {
  std::set<const double*> all;
  for (std::int64_t i = 0; i < view.extents[0]; ++i) {
    for (std::int64_t j = 0; j < view.extents[1]; ++j)
      all.insert(static_cast<const double*>(view.data) + i * view.strides[0] + j * view.strides[1]);
  }
  return all;
}

TEST(Overlap, OfPartsOfOneMatrixIsExact) {
  std::mt19937 random(1);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<double> memory(400);
  int apart_but_interleaved = 0;
  for (int round = 0; round < 5000; ++round) {
    const int leading = draw(2, 9);
    const auto part = [&] {
      const int row = draw(0, leading - 1);
      const View view{memory.data() + row + leading * draw(0, 12),
                      Dtype::f64,
                      {draw(0, leading - row), draw(0, 8)},
                      {1, leading}};
      return view;
    };
    View a = part();
    View b = part();
    if (draw(0, 1) == 0) {  // row-major: the same with the dimensions exchanged
      std::swap(a.extents[0], a.extents[1]);
      std::swap(a.strides[0], a.strides[1]);
    }
    const std::set<const double*> in_a = elements(a);
    bool shared = false;
    for (const double* element : elements(b)) shared = shared || in_a.contains(element);
    ASSERT_EQ(arrays::overlap(a, b), shared) << to_string(a.extents) << " and " << to_string(b.extents);
    ASSERT_EQ(arrays::overlap(b, a), shared);
    apart_but_interleaved += !shared && !in_a.empty() ? 1 : 0;
  }
  EXPECT_GT(apart_but_interleaved, 100);
}

/// Addresses of all bytes.
std::set<const char*> bytes_of(const View& view) {
  std::set<const char*> all;
  if (volume(view.extents) == 0) return all;
  Extents at = Extents::filled(view.extents.size(), 0);
  for (bool more = true; more;) {
    const char* element = static_cast<const char*>(view.data);
    for (int d = 0; d < at.size(); ++d) element += at[d] * view.strides[d] * size_of(view.dtype);
    for (std::int64_t byte = 0; byte < size_of(view.dtype); ++byte) all.insert(element + byte);
    more = false;
    for (int d = at.size() - 1; d >= 0 && !more; --d) {
      more = ++at[d] < view.extents[d];
      if (!more) at[d] = 0;
    }
  }
  return all;
}

bool share_bytes(const View& a, const View& b) {
  const std::set<const char*> in_a = bytes_of(a);
  const std::set<const char*> in_b = bytes_of(b);
  return std::ranges::any_of(in_b, [&](const char* byte) { return in_a.contains(byte); });
}

/// Windows of one array of up to four dimensions, some of them backwards, as other dtypes, or with gaps.
TEST(Overlap, OfWindowsIsExact) {
  std::mt19937 random(2);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<double> memory(6 * 6 * 6 * 6);
  int apart_but_interleaved = 0;
  for (int round = 0; round < 3000; ++round) {
    const int dimensions = draw(1, 4);
    Shape whole;
    for (int d = 0; d < dimensions; ++d) whole.push_back(draw(1, 6));
    const auto window = [&] {
      View view{memory.data(), Dtype::f64, {}, {}};
      std::int64_t offset = 0, stride = 1;
      std::vector<std::int64_t> strides;
      for (int d = dimensions - 1; d >= 0; stride *= whole[d--]) strides.insert(strides.begin(), stride);
      for (int d = 0; d < dimensions; ++d) {
        const std::int64_t step = draw(1, 2), first = draw(0, static_cast<int>(whole[d] - 1) / 2);
        const std::int64_t most = (whole[d] - 1 - first) / step + 1;
        const std::int64_t count = draw(0, 20) == 0 ? 0 : draw(1, static_cast<int>(most));
        const bool backwards = count > 0 && draw(0, 3) == 0;
        offset += (first + (backwards ? (count - 1) * step : 0)) * strides[static_cast<std::size_t>(d)];
        view.extents.push_back(count);
        view.strides.push_back((backwards ? -step : step) * strides[static_cast<std::size_t>(d)]);
      }
      view.data = memory.data() + offset;
      if (draw(0, 3) == 0) {  // the first half of each element
        view.dtype = Dtype::f32;
        for (int d = 0; d < dimensions; ++d) view.strides[d] *= 2;
      }
      return view;
    };
    const View a = window();
    const View b = window();
    const bool shared = share_bytes(a, b);
    ASSERT_EQ(arrays::overlap(a, b), shared) << to_string(a.extents) << " and " << to_string(b.extents);
    ASSERT_EQ(arrays::overlap(b, a), shared);
    apart_but_interleaved += !shared && arrays::spans_meet(a, b) ? 1 : 0;
  }
  EXPECT_GT(apart_but_interleaved, 300);
}

TEST(Overlap, OfStridesThatHaveNothingToDoWithEachOther) {
  std::vector<double> memory(100);
  const View a{memory.data(), Dtype::f64, {4, 4}, {1, 6}};
  const View b{memory.data() + 4, Dtype::f64, {2, 3}, {1, 7}};  // 4, 5, 11, 12, ..: 12 is the first of a's
  EXPECT_TRUE(arrays::overlap(a, b));
  const View beyond{memory.data() + 50, Dtype::f64, {2, 3}, {1, 7}};
  EXPECT_FALSE(arrays::overlap(a, beyond));
  const View in_the_gaps{memory.data() + 4, Dtype::f32, {4, 3}, {1, 12}};
  EXPECT_FALSE(arrays::overlap(a, in_the_gaps));
  const View repeated{memory.data() + 4, Dtype::f64, {1000, 2}, {0, 1}};
  EXPECT_FALSE(arrays::overlap(a, repeated));
  EXPECT_TRUE(arrays::overlap(repeated, b));
}

TEST(Overlap, OfElementsOfOneViewIsExact) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::vector<char> memory(500);
  int meeting = 0;
  for (int round = 0; round < 20000; ++round) {
    View view{memory.data() + 250, Dtype::i8, {}, {}};
    for (int d = draw(0, 4); d > 0; --d) {
      view.extents.push_back(draw(draw(0, 1), 4));
      view.strides.push_back(draw(-12, 12));
    }
    const bool expected = static_cast<std::int64_t>(bytes_of(view).size()) < volume(view.extents);
    ASSERT_EQ(arrays::elements_meet(view), expected)
        << to_string(view.extents) << " at strides " << to_string(view.strides);
    meeting += expected ? 1 : 0;
  }
  EXPECT_GT(meeting, 2000);
  EXPECT_LT(meeting, 18000);
}

TEST(Overlap, OfElementsOfLargeViewsIsFoundAtOnce) {
  const std::int64_t large = std::int64_t{1} << 40;
  const View dense = View::dense(nullptr, Dtype::f64, {large / 1024, 32, 32});
  EXPECT_FALSE(arrays::elements_meet(dense));
  View turned = dense;
  std::swap(turned.strides[0], turned.strides[2]);
  std::swap(turned.extents[0], turned.extents[2]);
  EXPECT_FALSE(arrays::elements_meet(turned));
  turned.strides[1] -= 1;
  EXPECT_TRUE(arrays::elements_meet(turned));
  const View windows{nullptr, Dtype::f64, {large, 3}, {1, 1}};
  EXPECT_TRUE(arrays::elements_meet(windows));
  const View far{nullptr, Dtype::f64, {2, 2, 1}, {std::numeric_limits<std::int64_t>::max(), 1, 0}};
  EXPECT_FALSE(arrays::elements_meet(far));
}

}  // namespace
}  // namespace partita
