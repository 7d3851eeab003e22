#include "support/models/layout_model.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

using model::Draw;
using Elements = std::set<std::int64_t>;

Elements expand(const IndexSet& set) {
  Elements elements;
  std::int64_t listed = 0;
  for (const Interval& interval : set.intervals()) {
    EXPECT_GT(interval.length, 0);
    EXPECT_GT(interval.count, 0);
    EXPECT_TRUE(interval.count == 1 ? interval.period == interval.length : interval.length < interval.period);
    for (std::int64_t i = 0; i < interval.count; ++i) {
      for (std::int64_t j = 0; j < interval.length; ++j) {
        elements.insert(interval.first + i * interval.period + j);
        ++listed;
      }
    }
  }
  EXPECT_EQ(listed, static_cast<std::int64_t>(elements.size())) << "not disjoint: " << to_string(set);
  return elements;
}

/// Everything that a set answers, against its list of elements.
void expect_set(const IndexSet& set, const Elements& elements, std::int64_t limit) {
  ASSERT_EQ(expand(set), elements) << to_string(set);
  ASSERT_EQ(set.size(), static_cast<std::int64_t>(elements.size()));
  ASSERT_EQ(set.empty(), elements.empty());
  std::int64_t position = 0;
  for (std::int64_t index = 0; index <= limit; ++index) {
    ASSERT_EQ(set.position(index), position) << to_string(set) << " at " << index;
    ASSERT_EQ(set.contains(index), elements.count(index) == 1) << to_string(set) << " at " << index;
    if (elements.count(index) == 1) {
      ASSERT_EQ(set.at(position), index) << to_string(set);
      ++position;
    }
  }
  EXPECT_FALSE(set.contains(-1));
  EXPECT_EQ(set.position(-1), 0);
  EXPECT_THROW((void)set.at(position), ArgumentError);
  EXPECT_THROW((void)set.at(-1), ArgumentError);
  if (elements.empty()) return;
  EXPECT_EQ(set.front(), *elements.begin());
  EXPECT_EQ(set.back(), *elements.rbegin());
}

Elements common(const Elements& a, const Elements& b) {
  Elements both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

/// Every interval steps evenly through `set`, and its runs are runs of positions.
void expect_even_steps(const IndexSet& part, const IndexSet& set) {
  for (const Interval& interval : part.intervals()) {
    const std::int64_t first = set.position(interval.first);
    const std::int64_t step = interval.count > 1 ? set.position(interval.first + interval.period) - first : 0;
    for (std::int64_t i = 0; i < interval.count; ++i) {
      for (std::int64_t j = 0; j < interval.length; ++j) {
        ASSERT_EQ(set.position(interval.first + i * interval.period + j), first + i * step + j)
            << to_string(part) << " in " << to_string(set);
      }
    }
  }
}

IndexSet random_set(Draw& draw, std::int64_t extent) {
  if (draw(0, 3) == 0) return IndexSet::range(draw(0, extent), draw(0, extent));
  const std::int64_t period = draw(1, 12);
  return IndexSet::cyclic(draw(0, extent / 2), draw(0, period), period, draw(0, extent));
}

TEST(IndexSet, TheEmptySetIsOrdinary) {
  expect_set(IndexSet(), {}, 5);
  expect_set(IndexSet::range(3, 3), {}, 5);
  expect_set(IndexSet::range(4, 1), {}, 5);
  expect_set(IndexSet::cyclic(7, 2, 4, 7), {}, 9);
  EXPECT_EQ(to_string(IndexSet()), "empty");
  EXPECT_EQ(IndexSet(), IndexSet::range(2, 2));
  EXPECT_NE(IndexSet(), IndexSet::range(2, 3));
  EXPECT_THROW((void)IndexSet().front(), ArgumentError);
  EXPECT_THROW((void)IndexSet().back(), ArgumentError);
}

TEST(IndexSet, CyclicSetsAreTheirBlocks) {
  Draw draw(1);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t period = draw(1, 9);
    const std::int64_t length = draw(0, period);
    const std::int64_t first = draw(0, 10);
    const std::int64_t extent = draw(0, 41);
    Elements elements;
    for (std::int64_t index = first; index < extent; ++index) {
      if ((index - first) % period < length) elements.insert(index);
    }
    const IndexSet set = IndexSet::cyclic(first, length, period, extent);
    expect_set(set, elements, 45);
    EXPECT_LE(set.intervals().size(), 2U);
  }
}

TEST(IndexSet, BlocksThatTouchAreOneRange) {
  EXPECT_EQ(IndexSet::cyclic(2, 3, 3, 1000).intervals().size(), 1U);
  EXPECT_EQ(IndexSet::of({{0, 4, 4, 5}, {20, 1, 0, 1}}).intervals().size(), 1U);
  EXPECT_EQ(IndexSet::of({{0, 2, 4, 3}, {2, 2, 4, 3}}), IndexSet::range(0, 12));
  EXPECT_EQ(IndexSet::of({{0, 2, 4, 3}, {2, 2, 4, 3}}).intervals().size(), 1U);
  EXPECT_EQ(IndexSet::of({{0, 1, 2, 6}, {1, 1, 2, 6}}).intervals().size(), 1U);
}

TEST(IndexSet, PrintsItsIntervals) {
  EXPECT_EQ(to_string(IndexSet::cyclic(0, 128, 512, 1600)), "[0,128)+512*3, [1536,1600)");
  EXPECT_EQ(to_string(IndexSet::range(3, 5)), "[3,5)");
}

TEST(IndexSet, IntersectionsAgreeWithBruteForce) {
  Draw draw(2);
  for (int round = 0; round < 1500; ++round) {
    const IndexSet a = random_set(draw, 120);
    const IndexSet b = random_set(draw, 120);
    const IndexSet c = random_set(draw, 120);
    const IndexSet both = intersect(a, b);
    expect_set(both, common(expand(a), expand(b)), 125);
    expect_even_steps(both, a);
    expect_even_steps(both, b);
    EXPECT_EQ(both, intersect(b, a));
    const IndexSet three = intersect(both, c);
    expect_set(three, common(expand(both), expand(c)), 125);
    for (const IndexSet& set : {a, b, c, both}) expect_even_steps(three, set);
    EXPECT_EQ(three, intersect(a, intersect(b, c)));
  }
}

TEST(IndexSet, LongPeriodsThatSeldomMeetAgreeWithBruteForce) {
  Draw draw(5);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t one = draw(20, 60);
    const std::int64_t two = draw(20, 60);
    const IndexSet a = IndexSet::cyclic(draw(0, 70), draw(1, 4), one, 5000 + draw(0, 60));
    const IndexSet b = IndexSet::cyclic(draw(0, 70), draw(1, 4), two, 5000 + draw(0, 60));
    const IndexSet both = intersect(a, b);
    ASSERT_EQ(expand(both), common(expand(a), expand(b))) << to_string(a) << " and " << to_string(b);
    expect_even_steps(both, a);
    expect_even_steps(both, b);
    const IndexSet range = IndexSet::range(draw(0, 2500), draw(2500, 5000));
    ASSERT_EQ(intersect(intersect(a, range), b), intersect(both, range));
  }
}

TEST(IndexSet, AnyDisjointIntervalsMakeASet) {
  Draw draw(3);
  int made = 0;
  for (int round = 0; round < 1500; ++round) {
    std::vector<Interval> intervals;
    Elements elements;
    bool disjoint = true;
    for (std::int64_t i = draw(0, 3); i >= 0; --i) {
      const Interval interval{draw(0, 60), draw(0, 2), draw(2, 14), draw(0, 5)};
      intervals.push_back(interval);
      for (std::int64_t k = 0; k < interval.count * interval.length; ++k) {
        const std::int64_t repetition = k / interval.length;
        disjoint &=
            elements.insert(interval.first + repetition * interval.period + k % interval.length).second;
      }
    }
    if (!disjoint) {
      EXPECT_THROW((void)IndexSet::of(intervals), ArgumentError);
      continue;
    }
    ++made;
    const IndexSet set = IndexSet::of(intervals);
    expect_set(set, elements, 135);
    std::vector<Interval> single;
    for (const std::int64_t index : elements) single.push_back({index, 1, 1, 1});
    EXPECT_EQ(set, IndexSet::of(single)) << to_string(set);
    EXPECT_EQ(set, IndexSet::of({set.intervals().begin(), set.intervals().end()}));
    const IndexSet other = random_set(draw, 120);
    expect_set(intersect(set, other), common(elements, expand(other)), 135);
    expect_even_steps(intersect(set, other), set);
    expect_even_steps(intersect(set, other), other);
    if (!elements.empty()) {
      elements.erase(elements.begin());
      single.erase(single.begin());
      EXPECT_NE(set, IndexSet::of(single));
    }
  }
  EXPECT_GT(made, 300);
}

TEST(IndexSet, MovesByAnOffset) {
  Draw draw(4);
  for (int round = 0; round < 300; ++round) {
    const IndexSet set = intersect(random_set(draw, 60), random_set(draw, 60));
    const std::int64_t offset = draw(-70, 30);
    Elements moved;
    for (const std::int64_t index : expand(set)) {
      if (index + offset >= 0) moved.insert(index + offset);
    }
    expect_set(set.shifted(offset), moved, 95);
  }
  EXPECT_THROW((void)IndexSet::range(5, 9).shifted(std::int64_t{9223372036854775807}), ArgumentError);
}

TEST(IndexSet, HugeSetsStaySmall) {
  const std::int64_t extent = 1'000'000'007;
  const IndexSet odd = IndexSet::cyclic(1, 1, 2, extent);
  const IndexSet third = IndexSet::cyclic(0, 1, 3, extent);
  const IndexSet both = intersect(odd, third);
  EXPECT_EQ(both.size(), (extent - 3 + 5) / 6);
  EXPECT_LE(both.intervals().size(), 2U);
  EXPECT_EQ(both.at(1'000'000), 6'000'003);
  EXPECT_EQ(odd, IndexSet::of({{1, 1, 4, 250'000'002}, {3, 1, 4, 250'000'001}}));
  // The period of these two would overflow: the few runs of the overlap are listed.
  const std::int64_t large = std::int64_t{1} << 40;
  const IndexSet a = IndexSet::cyclic(0, large, large * 3 + 1, std::int64_t{1} << 45);
  const IndexSet b = IndexSet::cyclic(5, large, large * 5 + 2, std::int64_t{1} << 45);
  EXPECT_LE(intersect(a, b).intervals().size(), 12U);
  EXPECT_EQ(intersect(a, b), intersect(b, a));
}

TEST(IndexSet, RefusesWhatIsNoSet) {
  EXPECT_THROW((void)IndexSet::range(-1, 3), ArgumentError);
  EXPECT_THROW((void)IndexSet::cyclic(-1, 1, 2, 9), ArgumentError);
  EXPECT_THROW((void)IndexSet::cyclic(0, 3, 2, 9), ArgumentError);
  EXPECT_THROW((void)IndexSet::cyclic(0, 0, 0, 9), ArgumentError);
  EXPECT_THROW((void)IndexSet::of({{0, 3, 2, 2}}), ArgumentError);
  EXPECT_THROW((void)IndexSet::of({{-1, 3, 3, 1}}), ArgumentError);
  EXPECT_THROW((void)IndexSet::of({{0, 3, 3, 1}, {2, 1, 1, 1}}), ArgumentError);
  EXPECT_THROW((void)IndexSet::of({{0, 1, std::int64_t{1} << 62, 5}}), ArgumentError);
}

}  // namespace
}  // namespace partita
