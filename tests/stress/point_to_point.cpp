// PointToPoint of any senders to any receivers, received in any order; large ones round rings.
#include <algorithm>
#include <deque>

#include "stress/turn.hpp"
#include "support/models/collectives_model.hpp"

namespace partita::testing {
namespace {

struct Message {
  int from = 0, to = 0, tag = 0;
  Dtype dtype = Dtype::f32;
  Shape shape;
  int salt = 0;

  Number operator()(const Index& index) const { return known(dtype, from, index, salt); }
};

/// Short enough never to wait for the receiver.
Message random_message(Turn& turn, int salt) {
  const int last = turn.context.size() - 1;
  Message message{turn.random.number(0, last),
                  turn.random.number(0, last),
                  turn.random.number(0, 2),
                  static_cast<Dtype>(turn.random.number(0, dtype_count - 1)),
                  {},
                  salt};
  for (int d = turn.random.number(0, 2); d > 0; --d) message.shape.push_back(turn.random.number(0, 30));
  return message;
}

void receive_one(Turn& turn, const Message& message, Memory memory) {
  Block block(turn.context, message.dtype, message.shape, memory);
  receive(turn.context, block.view(), message.from, message.tag, turn.stream);
  if (turn.on_device()) turn.context.synchronize(turn.stream);
  const std::int64_t wrong = block.wrong(message);
  turn.expect(wrong == 0, fmt::format("{} elements of message {} are wrong", wrong, message.salt));
}

/// Oldest first of each sender and tag, otherwise as it comes.
void receive_all(Turn& turn, std::vector<Message> mine, Memory memory) {
  while (!mine.empty()) {
    const Message chosen = mine[turn.own() % mine.size()];
    const auto oldest = std::find_if(mine.begin(), mine.end(), [&](const Message& one) {
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

After point_to_point(Turn& turn) {
  const Memory memory = turn.pick(every_memory(turn.context));
  // The heap's is made by all ranks together.
  const bool shared = memory == Memory::heap || memory == Memory::device_heap;
  const Memory own = shared ? usual_memory(turn.context) : memory;
  if (!is_on_device(own)) turn.stream = {};
  const int count = turn.random.number(0, 12);
  turn.call = fmt::format("{} messages, memory {}", count, static_cast<int>(memory));
  std::vector<Message> mine;
  for (int salt = 0; salt < count; ++salt) {
    const Message message = random_message(turn, salt);
    if (message.to == turn.context.rank()) mine.push_back(message);
    if (message.from != turn.context.rank()) continue;
    Block block(turn.context, message.dtype, message.shape, own);
    block.set(message);
    turn.delay();
    send(turn.context, block.view(), message.to, message.tag, turn.stream);
    if (turn.on_device()) turn.context.synchronize(turn.stream);
  }
  receive_all(turn, std::move(mine), own);
  round_a_ring(turn, memory);
  turn.context.barrier();  // messages are lost when their sender's context ends
  return After::goes_on;
}

}  // namespace partita::testing
