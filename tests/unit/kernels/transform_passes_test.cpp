// Which passes of a local transform go through buffers.
#include "execute/works/transform_passes.hpp"

#include "support/test.hpp"

namespace partita::testing {
namespace {

execution::LineWay way_of_lines(TransformKind kind, std::int64_t length) {
  const std::int64_t half = length / 2 + 1;
  const bool backward = kind == TransformKind::complex_to_real;
  execution::TransformNest nest;
  nest.kind = kind;
  nest.lines = {{length, 1, 1}};
  nest.batch = {{100, backward ? half : length, backward ? length : half}};
  return execution::estimated_passes(nest).front().way;
}

// FFTW is slow from complex to real where it must keep its input.
TEST(TransformPasses, LinesToRealNumbersGoThroughBuffers) {
  using execution::LineWay;
  for (const std::int64_t length : {100, 1000, 1025}) {
    EXPECT_EQ(way_of_lines(TransformKind::complex_to_real, length), LineWay::buffered) << length;
    EXPECT_EQ(way_of_lines(TransformKind::real_to_complex, length), LineWay::whole) << length;
  }
  EXPECT_EQ(way_of_lines(TransformKind::complex_to_real, 64), LineWay::whole);
}

}  // namespace
}  // namespace partita::testing
