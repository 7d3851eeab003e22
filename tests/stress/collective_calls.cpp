// Collectives with plain memory, small and large, in every kind of memory, with new values each time.
#include <deque>

#include "stress/collective_call.hpp"
#include "stress/random_collective.hpp"
#include "stress/turn.hpp"

namespace partita::testing {
namespace {

struct Collective {
  Turn& turn;
  CollectiveCall call;
  Memory memory;
  bool in_place;
  int rank = turn.context.rank();

  // A broadcast has but one view. What is in place is read and written.
  void write(Block& block, int salt) const {
    block.set([&](const Index& index) { return known(call.dtype, rank, index, salt); });
  }
  void write_junk(Block& block) const {
    block.set([&](const Index&) { return Number(1); });
  }
  View source(const Block& block) const { return call.has_source(rank) ? block.view() : View{}; }
  View destination(const Block& block) const { return call.has_destination(rank) ? block.view() : View{}; }
  void expect_right(Block& result, int salt) const {
    if (!call.has_destination(rank)) return;
    const std::int64_t wrong =
        result.wrong([&](const Index& index) { return call.expected(rank, index, salt); });
    turn.expect(wrong == 0, fmt::format("{} elements of round {} are wrong", wrong, salt));
  }
};

void one_after_the_other(const Collective& what, Block& source, Block& destination, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (!what.in_place) what.write_junk(destination);
    what.write(source, round);
    what.turn.delay();
    what.call(what.turn.context, what.source(source), what.destination(destination), what.turn.stream);
    if (what.turn.on_device()) what.turn.context.synchronize(what.turn.stream);
    if (!what.in_place) what.write_junk(source);
    what.turn.delay();
    what.expect_right(destination, round);
  }
}

void in_the_stream(const Collective& what, Block& source, Block& destination, int rounds) {
  const Context& context = what.turn.context;
  const auto like = [&](const Block& block) -> const Shape& { return block.view().extents; };
  std::deque<Block> values, results;
  Block junk_source(context, what.call.dtype, like(source), what.memory);
  Block junk_destination(context, what.call.dtype, like(destination), what.memory);
  what.write_junk(junk_source);
  what.write_junk(junk_destination);
  StreamRounds all{source.view(), destination.view(), junk_source.view(), junk_destination.view(), {}, {}};
  for (int round = 0; round < rounds; ++round) {
    what.write(values.emplace_back(context, what.call.dtype, like(source), what.memory), round);
    results.emplace_back(context, what.call.dtype, like(destination), what.memory);
    all.values.push_back(values.back().view());
    all.results.push_back(results.back().view());
  }
  run_rounds(what.turn, all, [&] {
    what.call(context, what.source(source), what.destination(destination), what.turn.stream);
  });
  for (int round = 0; round < rounds; ++round) {
    what.expect_right(results[static_cast<std::size_t>(round)], round);
  }
}

}  // namespace

After collective_calls(Turn& turn) {
  Collective what{turn, random_collective(turn.random, turn.context.size()), {}, false};
  what.memory = turn.pick(every_memory(turn.context));
  what.in_place = what.call.kind == CollectiveCall::Kind::broadcast ||
                  (what.call.may_be_in_place() && turn.random.maybe(0.3));
  const int rounds = turn.random.number(1, 5);
  const bool in_stream = is_on_device(what.memory) && !what.in_place && turn.random.maybe(0.7);
  if (!is_on_device(what.memory)) turn.stream = {};
  turn.call = fmt::format("{} memory {}{}{}, {} rounds", what.call.text(), static_cast<int>(what.memory),
                          what.in_place ? " in place" : "", in_stream ? " in the stream" : "", rounds);
  Block source(turn.context, what.call.dtype, what.call.source_shape(what.rank), what.memory);
  Block other(turn.context, what.call.dtype, what.call.destination_shape(what.rank), what.memory);
  Block& destination = what.in_place ? source : other;
  (in_stream ? in_the_stream : one_after_the_other)(what, source, destination, rounds);
  return After::goes_on;
}

}  // namespace partita::testing
