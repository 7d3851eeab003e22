// Lines that go through the workspace of a device, some at a time; no ranks.
#include <gtest/gtest.h>

#include "execute/works/device_line_pass.hpp"
#include "plan/work.hpp"
#include "support/fakes/fake_transforms.hpp"
#include "support/models/naive_transform.hpp"

namespace partita::testing {
namespace {

/// A plane of lines along either dimension, whose chunks leave a rest.
void expect_packed(TransformKind kind, bool along_rows, std::int64_t lines_at_a_time, bool orthogonal) {
  FakeTransforms device([](Stream, const std::function<void()>& work) { work(); });
  constexpr std::int64_t n = 6, lines = 7;
  execution::TransformNest nest;
  nest.kind = kind;
  nest.orthogonal = orthogonal;
  nest.lines = {{n, along_rows ? 1 : lines, along_rows ? 1 : lines}};
  nest.batch = {{lines, along_rows ? n : 1, along_rows ? n : 1}};
  std::vector<double> from(n * lines), to(n * lines);
  Numbers whole{along_rows ? Shape{lines, n} : Shape{n, lines}, {}};
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<double>(i * i % 17) - 8;
    whole.values.emplace_back(static_cast<long double>(from[i]));
  }
  constexpr std::int64_t line_bytes = 4 * n * static_cast<std::int64_t>(sizeof(double));
  const auto pass = execution::packed_pass(device, nest, {true, false, lines_at_a_time * line_bytes}, {});
  std::vector<std::complex<double>> workspace(static_cast<std::size_t>(pass->workspace_bytes()) / 16 + 1);
  pass->enqueue({reinterpret_cast<char*>(from.data()), reinterpret_cast<char*>(to.data()),
                 reinterpret_cast<char*>(workspace.data())},
                0.5, {});
  const auto weigh = [&](Numbers& numbers, const planning::LineEnds& ends) {
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t first = along_rows ? line * n : line, step = along_rows ? 1 : lines;
      numbers.values[static_cast<std::size_t>(first)] *= ends.first;
      numbers.values[static_cast<std::size_t>(first + (n - 1) * step)] *= ends.last;
    }
  };
  if (orthogonal) weigh(whole, planning::ends_before(kind));
  Numbers expected = transform_axis(kind, n, along_rows ? 1 : 0, whole);
  if (orthogonal) weigh(expected, planning::ends_after(kind));
  for (std::size_t i = 0; i < to.size(); ++i)
    ASSERT_NEAR(to[i], 0.5 * static_cast<double>(expected.values[i].real()), 1e-12)
        << i << " of kind " << static_cast<int>(kind);
}

TEST(DevicePasses, LinesGoThroughTheWorkspaceSomeAtATime) {
  for (int kind = static_cast<int>(TransformKind::dct1); kind <= static_cast<int>(TransformKind::dst4);
       ++kind) {
    for (const bool along_rows : {true, false}) {
      for (const std::int64_t lines : {1, 3, 100})
        for (const bool orthogonal : {false, true})
          expect_packed(static_cast<TransformKind>(kind), along_rows, lines, orthogonal);
    }
  }
}

}  // namespace
}  // namespace partita::testing
