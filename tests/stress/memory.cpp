// Arrays that come and go, in another order on every rank; and contexts of some of the ranks.
#include <algorithm>
#include <partita/redistribute.hpp>

#include "stress/turn.hpp"
#include "support/models/array_model.hpp"

namespace partita::testing {

After memory(Turn& turn) {
  const int count = turn.random.number(1, 6);
  turn.call = fmt::format("{} arrays come and go", count);
  std::vector<Array> arrays;
  for (int i = 0; i < count; ++i) {
    Shape shape{turn.random.number(0, 300), turn.random.number(1, 300)};
    arrays.push_back(empty(turn.context, shape, Slab(turn.random.number(0, 1)), Dtype::i32));
    write_known(arrays.back(), i);
    if (turn.random.maybe(0.3)) {
      turn.delay();
      const Array other = redistribute(arrays.back(), BlockCyclic({turn.context.size(), 1}, {3, 2}));
      const std::int64_t wrong = count_wrong(other, arrays.back().layout(), {}, i);
      turn.expect(wrong == 0, fmt::format("{} elements of array {} are wrong", wrong, i));
    }
  }
  std::vector<int> order(arrays.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), turn.own);
  for (const int i : order) {
    turn.delay();
    Array& array = arrays[static_cast<std::size_t>(i)];
    const std::int64_t wrong = count_wrong(array, array.layout(), {}, i);
    turn.expect(wrong == 0, fmt::format("{} elements of array {} have changed", wrong, i));
    array = Array();
  }
  if (turn.random.maybe()) turn.context.collect();
  return After::goes_on;
}

After subgroups(Turn& turn) {
  std::vector<int> members = turn.random.permutation(turn.context.size());
  members.resize(static_cast<std::size_t>(turn.random.number(1, turn.context.size())));
  const int what = turn.random.number(0, 2);
  const auto seed = static_cast<std::uint64_t>(turn.random.number(0, 1 << 30));
  turn.call = fmt::format("a context of {} of {} ranks", members.size(), turn.context.size());
  if (std::find(members.begin(), members.end(), turn.context.rank()) == members.end()) return After::goes_on;
  Context part = turn.context.subgroup(members);
  Turn inner{part, RandomLayouts(seed), std::mt19937_64(turn.own()), {}, ""};
  const auto body = what == 0 ? redistributions : what == 1 ? collective_calls : point_to_point;
  try {
    body(inner);
  } catch (...) {
    turn.call += ": " + inner.call;
    throw;
  }
  return After::goes_on;
}

}  // namespace partita::testing
