// Letters of any senders to any receivers, received in any order; large ones round rings.
#include <algorithm>
#include <deque>

#include "ranks/collectives_model.hpp"
#include "stress/turn.hpp"

namespace partita::testing {
namespace {

struct Letter {
  int from = 0, to = 0, tag = 0;
  Dtype dtype = Dtype::f32;
  Shape shape;
  int salt = 0;

  Number operator()(const Index& index) const { return known(dtype, from, index, salt); }
};

/// Short enough never to wait for the receiver.
Letter random_letter(Turn& turn, int salt) {
  const int last = turn.context.size() - 1;
  Letter letter{turn.random.number(0, last),
                turn.random.number(0, last),
                turn.random.number(0, 2),
                static_cast<Dtype>(turn.random.number(0, dtype_count - 1)),
                {},
                salt};
  for (int d = turn.random.number(0, 2); d > 0; --d) letter.shape.push_back(turn.random.number(0, 30));
  return letter;
}

void receive_one(Turn& turn, const Letter& letter, Memory memory) {
  Block block(turn.context, letter.dtype, letter.shape, memory);
  receive(turn.context, block.view(), letter.from, letter.tag, turn.stream);
  if (turn.on_device()) turn.context.synchronize(turn.stream);
  const std::int64_t wrong = block.wrong(letter);
  turn.expect(wrong == 0, fmt::format("{} elements of letter {} are wrong", wrong, letter.salt));
}

/// Oldest first of each sender and tag, otherwise as it comes.
void receive_all(Turn& turn, std::vector<Letter> mine, Memory memory) {
  while (!mine.empty()) {
    const Letter chosen = mine[turn.own() % mine.size()];
    const auto oldest = std::find_if(mine.begin(), mine.end(), [&](const Letter& one) {
      return one.from == chosen.from && one.tag == chosen.tag;
    });
    receive_one(turn, *oldest, memory);
    mine.erase(oldest);
    turn.delay();
  }
}

void round_a_ring(Turn& turn, Memory memory) {
  const std::vector<int> next = turn.random.permutation(turn.context.size());
  const auto me = static_cast<std::size_t>(turn.context.rank());
  const auto from = static_cast<int>(std::find(next.begin(), next.end(), turn.context.rank()) - next.begin());
  const Shape shape{turn.random.number(1, 40000)};
  const auto dtype = static_cast<Dtype>(turn.random.number(0, dtype_count - 1));
  turn.call += fmt::format(", a ring of {} {}", to_string(shape), name(dtype));
  Block sent(turn.context, dtype, shape, memory);
  Block received(turn.context, dtype, shape, memory);
  const auto of = [&](int rank) { return [=](const Index& index) { return known(dtype, rank, index, 9); }; };
  sent.set(of(turn.context.rank()));
  turn.delay();
  send_receive(turn.context, sent.view(), next[me], received.view(), from, 7, turn.stream);
  sent.set([](const Index&) { return Number(1); });
  if (turn.on_device()) turn.context.synchronize(turn.stream);
  const std::int64_t wrong = received.wrong(of(from));
  turn.expect(wrong == 0, fmt::format("{} elements of the ring are wrong", wrong));
}

}  // namespace

After letters(Turn& turn) {
  const Memory memory = turn.pick(every_memory(turn.context));
  // The heap's is made by all ranks together.
  const bool shared = memory == Memory::heap || memory == Memory::device_heap;
  const Memory own = shared ? usual_memory(turn.context) : memory;
  if (!is_on_device(own)) turn.stream = {};
  const int count = turn.random.number(0, 12);
  turn.call = fmt::format("{} letters, memory {}", count, static_cast<int>(memory));
  std::vector<Letter> mine;
  for (int salt = 0; salt < count; ++salt) {
    const Letter letter = random_letter(turn, salt);
    if (letter.to == turn.context.rank()) mine.push_back(letter);
    if (letter.from != turn.context.rank()) continue;
    Block block(turn.context, letter.dtype, letter.shape, own);
    block.set(letter);
    turn.delay();
    send(turn.context, block.view(), letter.to, letter.tag, turn.stream);
    if (turn.on_device()) turn.context.synchronize(turn.stream);
  }
  receive_all(turn, std::move(mine), own);
  round_a_ring(turn, memory);
  turn.context.barrier();  // letters are lost where their sender's context goes
  return After::goes_on;
}

}  // namespace partita::testing
