// Any distribution into any other, by objects and in one line, with new values each time.
#include <optional>
#include <partita/redistribute.hpp>

#include "stress/turn.hpp"
#include "support/models/any_memory.hpp"
#include "support/models/array_model.hpp"
#include "support/models/random_redistribution.hpp"

namespace partita::testing {
namespace {

bool is_there(const Array& array) {
  return array.local().space == MemorySpace::device;
}

struct Pair {
  Turn& turn;
  RandomRedistribution choice;
  Wrapped source, destination;
  std::optional<Redistribute> plan;

  Wrapped another_source() const {
    return make_array(turn.context, choice.source, choice.dtype, choice.source_kind);
  }
  Wrapped another_destination() const {
    return make_array(turn.context, choice.destination, choice.dtype, choice.destination_kind);
  }
  void expect_right(const Array& result, int round) const {
    const std::int64_t wrong = count_wrong(result, choice.source, choice.options.axes, round);
    turn.expect(wrong == 0, fmt::format("{} elements of round {} are wrong", wrong, round));
  }
};

void one_after_the_other(Pair& pair, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    write_known(pair.source.array, round);
    write_constant(pair.destination.array, 1);
    pair.turn.delay();
    if (pair.plan) {
      pair.plan->execute(pair.source.array, pair.destination.array);
    } else {
      redistribute(pair.source.array, pair.destination.array, pair.choice.options);
    }
    write_constant(pair.source.array, 2);
    pair.turn.delay();
    pair.expect_right(pair.destination.array, round);
  }
}

void in_the_stream(Pair& pair, int rounds) {
  run_rounds(pair.turn, pair.source.array, pair.destination.array,
             {[&] { return pair.another_source(); }, [&] { return pair.another_destination(); },
              [](Array& source, int round) { write_known(source, round); },
              [](Array& source, Array& destination) {
                write_constant(source, 2);
                write_constant(destination, 1);
              },
              [&](const Array& result, int round) { pair.expect_right(result, round); }, rounds},
             [&] { pair.plan->execute(pair.source.array, pair.destination.array, pair.turn.stream); });
}

}  // namespace

After redistributions(Turn& turn) {
  const bool large = turn.random.maybe(0.1);
  Pair pair{turn, random_redistribution(turn.random, turn.context, large ? 8 : 1), {}, {}, {}};
  const int rounds = turn.random.number(1, 5);
  const bool planned = turn.random.maybe();
  turn.call = fmt::format("redistribute {}, {} rounds{}", describe(pair.choice), rounds,
                          planned ? ", one object" : "");
  pair.source = pair.another_source();
  pair.destination = pair.another_destination();
  if (planned) {
    pair.plan.emplace(turn.context, pair.source.array.operand(), pair.destination.array.operand(),
                      pair.choice.options);
  }
  if (planned && is_there(pair.source.array) && is_there(pair.destination.array)) {
    turn.call += ", in the stream";
    in_the_stream(pair, rounds);
  } else {
    one_after_the_other(pair, rounds);
  }
  return After::goes_on;
}

}  // namespace partita::testing
