#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using model::Draw;

/// What a tiling by `boxes` is refused for; empty where it is fine.
std::string refusal(const std::vector<Box::Bounds>& boxes, const Shape& shape, int ranks = 20) {
  return text_of_error<ArgumentError>([&] { (void)Layout(Box(boxes), shape, ranks); });
}

/// How many boxes hold each element, by counting.
struct Count {
  std::int64_t holes = 0;
  std::int64_t overlaps = 0;
  std::string first_hole;
};

Count count(const std::vector<Box::Bounds>& boxes, const Shape& shape) {
  Count result;
  model::for_each_index(shape, [&](const Index& index) {
    int holders = 0;
    for (const Box::Bounds& box : boxes) {
      bool inside = true;
      for (int i = 0; i < shape.size(); ++i) inside &= index[i] >= box.lower[i] && index[i] < box.upper[i];
      holders += inside ? 1 : 0;
    }
    if (holders > 1) ++result.overlaps;
    if (holders > 0 || result.holes++ > 0) return;
    for (const std::int64_t i : index)
      result.first_hole += (result.first_hole.empty() ? "(" : ",") + std::to_string(i);
    result.first_hole += ")";
  });
  return result;
}

TEST(Box, TilingsAreJudgedAsByCounting) {
  Draw draw(31);
  int holes = 0;
  int overlaps = 0;
  for (int round = 0; round < 1500; ++round) {
    const Shape shape = model::random_shape(draw, 300);
    std::vector<Box::Bounds> boxes = model::random_boxes(draw, shape, 12).boxes;
    if (round % 3 > 0) {  // move one face of one box
      Box::Bounds& box = boxes[static_cast<std::size_t>(draw(0, std::ssize(boxes) - 1))];
      const int axis = draw.small(0, shape.size() - 1);
      if (round % 3 == 1) box.lower[axis] = draw(0, box.upper[axis]);
      if (round % 3 == 2) box.upper[axis] = draw(box.lower[axis], shape[axis]);
    }
    const Count expected = count(boxes, shape);
    const std::string text = refusal(boxes, shape);
    if (expected.overlaps > 0) {
      ++overlaps;
      ASSERT_TRUE(contains(text, "overlap")) << text;
    } else if (expected.holes > 0) {
      ++holes;
      ASSERT_TRUE(contains(text, "do not cover " + std::to_string(expected.holes) + " elements")) << text;
      ASSERT_TRUE(contains(text, "no rank owns index " + expected.first_hole))
          << text << " but expected " << expected.first_hole;
    } else {
      ASSERT_EQ(text, "");
    }
  }
  EXPECT_GT(holes, 100);
  EXPECT_GT(overlaps, 100);
}

TEST(Box, ErrorsNameTheRanks) {
  EXPECT_TRUE(contains(refusal({{{0, 0}, {2, 3}}, {{4, 0}, {4, 3}}, {{1, 2}, {4, 3}}}, {4, 3}),
                       "boxes of ranks 0 and 2 overlap at index (1,2)"));
  EXPECT_TRUE(contains(refusal({{{0}, {4}}, {{4}, {7}}}, {6}), "box of rank 1"));
  EXPECT_TRUE(contains(refusal({{{0}, {4}}, {{6}, {4}}}, {6}), "box of rank 1"));
  EXPECT_TRUE(contains(refusal({{{0}, {4}}, {{-1}, {0}}}, {4}), "box of rank 1"));
  EXPECT_TRUE(contains(refusal({{{0}, {6}}, {{0, 0}, {0, 0}}}, {6}), "box of rank 1"));
  EXPECT_TRUE(contains(refusal({{{0}, {3}}, {{3}, {6}}}, {6}, 1), "2 boxes are given for 1 ranks"));
  EXPECT_TRUE(contains(refusal({}, {6}), "no rank owns index (0)"));
  EXPECT_EQ(refusal({}, {6, 0}), "");
  EXPECT_EQ(refusal({{{}, {}}}, {}), "");
  EXPECT_TRUE(contains(refusal({{{}, {}}, {{}, {}}}, {}), "overlap"));
}

TEST(Box, ThousandsOfBoxesWithVolumesBeyond32Bits) {
  std::vector<Box::Bounds> boxes;
  const std::int64_t step = 100'003;
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 20; ++j) {
      for (std::int64_t k = 0; k < 20; ++k) {
        boxes.push_back({{i * step, j * step, k * step}, {(i + 1) * step, (j + 1) * step, (k + 1) * step}});
      }
    }
  }
  const Shape shape{20 * step, 20 * step, 20 * step};
  const int ranks = 8000;
  EXPECT_EQ(refusal(boxes, shape, ranks), "");
  boxes[4321].upper[2] -= 1;
  EXPECT_TRUE(contains(refusal(boxes, shape, ranks), "do not cover 10000600009 elements"));
  boxes[4321].upper[2] += 2;
  EXPECT_TRUE(contains(refusal(boxes, shape, ranks), "ranks 4321 and 4322 overlap"));
}

TEST(Box, FromCutPoints) {
  EXPECT_EQ(Box::from_cuts({{0, 3, 10}, {0, 4, 4, 9}}), Box({{{0, 0}, {3, 4}},
                                                             {{0, 4}, {3, 4}},
                                                             {{0, 4}, {3, 9}},
                                                             {{3, 0}, {10, 4}},
                                                             {{3, 4}, {10, 4}},
                                                             {{3, 4}, {10, 9}}}));
  const Layout layout(Box::from_cuts({{0, 3, 10}, {0, 4, 4, 9}}), {10, 9}, 7);
  EXPECT_EQ(layout.local_shape(3), Shape({7, 4}));
  EXPECT_EQ(layout.local_size(1), 0);
  EXPECT_EQ(layout.local_size(6), 0);  // beyond the boxes
  EXPECT_EQ(Box::from_cuts({{0, 5}}), Box({{{0}, {5}}}));
  EXPECT_THROW((void)Box::from_cuts({{0, 3}, {0}}), ArgumentError);
  EXPECT_THROW((void)Box::from_cuts({{1, 3}}), ArgumentError);
  EXPECT_THROW((void)Box::from_cuts({{0, 3, 2}}), ArgumentError);
  EXPECT_THROW((void)Box::from_cuts(std::vector<std::vector<std::int64_t>>(9, {0, 1})), ArgumentError);
  // Before any of 10^24 boxes is made.
  const std::vector<std::int64_t> thousand(1001, 0);
  EXPECT_THROW((void)Box::from_cuts(std::vector<std::vector<std::int64_t>>(8, thousand)), ArgumentError);
}

}  // namespace
}  // namespace partita
