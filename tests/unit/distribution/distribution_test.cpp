#include "support/test.hpp"

namespace partita {
namespace {

TEST(Distribution, ReadsWhatItPrints) {
  for (const char* text : {"slab:0",
                           "slab:7",
                           "box:",
                           "box:0,0-4,3;4,0-8,3",
                           "box:0-5;5-5;5-7",
                           "box:-",
                           "block-cyclic:2x2:128x128",
                           "block-cyclic:2x3:4x5:column:first=0,1",
                           "block-cyclic:2x2:1x1:ranks=3,2,1,9",
                           "block-cyclic:7:3",
                           "block-cyclic:2x2:1x1:ranks=3,2,1,9:first=1,1",
                           "block-cyclic:scalar:scalar",
                           "block-noncyclic:2x2",
                           "block-noncyclic:2x2:4x5",
                           "block-noncyclic:2x2:column",
                           "block-noncyclic:4:3:ranks=4,3,2,1",
                           "block-noncyclic:2x2:4x5:first=1,0",
                           "replicated",
                           "mesh:x=2,y=2:x,y",
                           "mesh:x=2,y=2,z=2:(x,y),-;partial=sum:z",
                           "mesh:a_1=3:-",
                           "mesh:x=2:",
                           "mesh::-,-",
                           "mesh:x=2,y=3:-,(y,x);uneven=balanced",
                           "mesh:x=2,y=2:x,y;ranks=3,2,1,0",
                           "mesh:x=2,y=2:x;partial=sum:y;uneven=balanced;ranks=5,2,1,0",
                           "mesh:x=2,y=3:-;partial=max:y,x;uneven=balanced"}) {
    const Distribution distribution = Distribution::parse(text);
    EXPECT_EQ(distribution.to_string(), text);
    EXPECT_EQ(Distribution::parse(distribution.to_string()), distribution);
    EXPECT_EQ(std::string(text).find(name(distribution.kind())), 0U);
  }
  EXPECT_EQ(Distribution::parse("mesh:x=2:x;uneven=ceil").to_string(), "mesh:x=2:x");
  EXPECT_EQ(Distribution::parse("mesh:x=2:(x)").to_string(), "mesh:x=2:x");
  EXPECT_EQ(Distribution::parse("mesh:x=2:x;ranks=0,1").to_string(), "mesh:x=2:x");
  EXPECT_EQ(Distribution::parse("block-cyclic:4:2:column:first=0").to_string(), "block-cyclic:4:2");
}

TEST(Distribution, ReadsEachKind) {
  EXPECT_EQ(Distribution::parse("slab:1"), Distribution(Slab(1)));
  EXPECT_EQ(Distribution::parse("box:0,0-4,3;4,0-8,3"),
            Distribution(Box({{{0, 0}, {4, 3}}, {{4, 0}, {8, 3}}})));
  EXPECT_EQ(Distribution::parse("block-cyclic:2x3:4x5:column:first=0,1"),
            Distribution(BlockCyclic(ProcessGrid({2, 3}, Order::column_major, {0, 1}), {4, 5})));
  EXPECT_EQ(Distribution::parse("block-noncyclic:2x3"), Distribution(BlockNonCyclic({2, 3})));
  EXPECT_EQ(Distribution::parse("replicated"), Distribution(Replicated{}));
  const PartitionSpec spec{{{"x", "y"}, {}}, {"z"}, Reduction::min, Uneven::balanced};
  EXPECT_EQ(Distribution::parse("mesh:x=2,y=3,z=4:(x,y),-;partial=min:z;uneven=balanced"),
            Distribution(Partitioned{Mesh({{"x", 2}, {"y", 3}, {"z", 4}}), spec}));
}

/// The message holds `hint`.
void expect_refused(const char* text, const std::string& hint) {
  EXPECT_ERROR(ArgumentError, Distribution::parse(text), hint, text);
}

TEST(Distribution, SaysWhatItDoesNotUnderstand) {
  expect_refused("", "block-cyclic:GRID:BLOCK");
  expect_refused("slabs:0", "slab:AXIS");
  expect_refused(" slab:0", "slab:AXIS");
  expect_refused("slab", "axis");
  expect_refused("slab:-1", "\"-1\" is not a valid axis");
  expect_refused("slab:1x", "\"1x\"");
  expect_refused("slab:99999999999", "\"99999999999\"");
  expect_refused("replicated:2", "replicated has no parameters");
  expect_refused("box:0,0", "LOWER-UPPER");
  expect_refused("box:0,0-4", "2 and 1 dimensions");
  expect_refused("box:0,a-4,4", "\"a\" is not a valid corner");
  expect_refused("block-cyclic:2x2", "needs a grid and a block");
  expect_refused("block-cyclic::2", "grid extent is missing");
  expect_refused("block-cyclic:2x0:1x1", "extent below 1");
  expect_refused("block-cyclic:2x2:1x1:columns", "known options");
  expect_refused("block-cyclic:2x2:1x1:column:column", "each once");
  expect_refused("block-cyclic:2x2:1x1:column:ranks=0,1,2,3", "exclude");
  expect_refused("block-cyclic:2x2:1x1:ranks=0,1,2", "4 processes");
  expect_refused("block-cyclic:2x2:1x1:ranks=0,1,2,2", "rank 2 twice");
  expect_refused("block-cyclic:2x2:1x1:first=2,0", "first process");
  expect_refused("block-cyclic:1x1x1x1x1x1x1x1x1:1", "8 dimensions");
  expect_refused("block-noncyclic", "grid extent is missing");
  expect_refused("block-noncyclic:2x2:4y4", "\"4y4\"");
  expect_refused("mesh:x=2", "needs its axes and a spec");
  expect_refused("mesh:x:x", "NAME=SIZE");
  expect_refused("mesh:x=2:y", "its axes: x");
  expect_refused("mesh:x=2:x,x", "x twice");
  expect_refused("mesh:x=2:x;partial=sum:x", "x twice");
  expect_refused("mesh:x=2:(x", "not closed");
  expect_refused("mesh:x=2,y=2:x,", "comma");
  expect_refused("mesh:x=2,y=2:(x)y", "comma");
  expect_refused("mesh:x=2:-;partial=mean:x", "sum");
  expect_refused("mesh:x=2:-;partial=sum", "names no axes");
  expect_refused("mesh:x=2:-;uneven=floor", "uneven=balanced");
  expect_refused("mesh:x=2:x;ranks=0", "2 coordinates");
  expect_refused("mesh:x=2:x;ranks=1,1", "rank 1 twice");
  expect_refused("mesh:x=2:x;ranks=1,b", "\"b\" is not a valid rank");
}

TEST(Distribution, PermutesItsRule) {
  const std::array<int, 3> axes{2, 0, 1};
  const auto permuted = [&](const char* text) {
    return Distribution::parse(text).permuted(axes).to_string();
  };
  EXPECT_EQ(permuted("slab:0"), "slab:1");
  EXPECT_EQ(permuted("slab:2"), "slab:0");
  EXPECT_EQ(permuted("box:0,0,0-4,3,2"), "box:0,0,0-2,4,3");
  EXPECT_EQ(permuted("block-cyclic:1x3x1:4x5x6"), "block-cyclic:1x1x3:6x4x5");
  EXPECT_EQ(permuted("block-noncyclic:2x1x2:first=1,0,0"), "block-noncyclic:2x2x1:column:first=0,1,0");
  EXPECT_EQ(permuted("mesh:x=2,y=3:x,y,-"), "mesh:x=2,y=3:-,x,y");
  EXPECT_EQ(permuted("mesh:x=2:x,-,-;ranks=1,0"), "mesh:x=2:-,x,-;ranks=1,0");
  EXPECT_EQ(permuted("replicated"), "replicated");
  EXPECT_THROW((void)permuted("slab:3"), ArgumentError);
  EXPECT_THROW((void)permuted("mesh:x=2,y=3:x,y"), ArgumentError);
  EXPECT_THROW((void)Distribution(Replicated{}).permuted(std::array<int, 2>{1, 1}), ArgumentError);
}

}  // namespace
}  // namespace partita
