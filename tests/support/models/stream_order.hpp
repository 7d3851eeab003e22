// When an execution in a stream is over.
#pragma once

#include "support/on_ranks.hpp"

namespace partita::testing {

/// In stream order the source may be overwritten right after each execute. Every rank is late now and then.
inline void check_stream_order(Context& context, const RedistributeOptions& options, int rounds) {
  std::mt19937 random(static_cast<unsigned>(pairs_seed() + context.rank()));
  Array source = empty(context, {37, 29}, Slab(0), Dtype::i64);
  Array middle = empty(context, {37, 29}, Slab(1), Dtype::i64);
  Array destination = empty(context, {37, 29}, BlockCyclic({context.size(), 1}, {2, 2}), Dtype::i64);
  Redistribute first(context, source.operand(), middle.operand(), options);
  Redistribute second(context, middle.operand(), destination.operand(), options);
  Redistribute overwrite(context, destination.operand(), source.operand(), options);
  write_known(source);
  for (int round = 0; round < rounds; ++round) {
    first.execute(source, middle, Stream{});
    second.execute(middle, destination, Stream{});
    overwrite.execute(destination, source, Stream{});
    if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
  context.synchronize();
  EXPECT_EQ(count_wrong(source, source.layout()), 0);
  EXPECT_EQ(count_wrong(destination, source.layout()), 0);
}

}  // namespace partita::testing
