// Exchanges of packets whose numbers come round: 32 bits are used up in hours.
#include "device/device_synchronization.hpp"
#include "device/packet_board.hpp"
#include "support/models/collectives_model.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

enum class Kind { moved, joined, passed_on, nests };
constexpr Kind every_kind[] = {Kind::moved, Kind::joined, Kind::passed_on, Kind::nests};

/// As if `number` exchanges had been made.
void set_number(Context& context, std::uint32_t number) {
  ContextState& state = *context.state();
  context.synchronize();
  context.barrier();
  const std::uint64_t counters = number;  // and no blocks of a launch
  state.device->physical().copy_past(devices::PacketBoard::of(state)->slots().counters, &counters,
                                     sizeof(counters));
  context.barrier();
}

/// One exchange. The others look for what a rank that is late has not sent yet.
void check_exchange(Context& context, Kind kind, std::int64_t count, int salt) {
  const int ranks = context.size();
  const auto brought = [&](int rank) {
    return [=](const Index& index) { return Number(static_cast<double>(salt * 100 + rank * 7 + index[0])); };
  };
  Block own(context, Dtype::i64, {count}, Memory::device);
  Block all(context, Dtype::i64, {count * ranks}, Memory::device);
  own.set(brought(context.rank()));
  Array rows = zeros(context, {count, ranks}, Slab(0), Dtype::i64);
  Array columns = zeros(context, {count, ranks}, Slab(1), Dtype::i64);
  write_constant(rows, salt);
  Redistribute turn(context, rows.operand(), columns.operand());
  context.barrier();
  if (context.rank() == salt % ranks) std::this_thread::sleep_for(5ms);
  switch (kind) {
    case Kind::moved:
      all_gather(context, own.view(), all.view());
      EXPECT_EQ(all.wrong([&](const Index& index) {
        return brought(static_cast<int>(index[0] / count))({index[0] % count});
      }),
                0);
      return;
    case Kind::joined:
      all_reduce(context, own.view(), own.view());
      EXPECT_EQ(own.wrong([&](const Index& index) {
        Number sum(0.0);
        for (int rank = 0; rank < ranks; ++rank) sum = sum + brought(rank)(index);
        return sum;
      }),
                0);
      return;
    case Kind::passed_on:
      broadcast(context, own.view(), salt % ranks);
      EXPECT_EQ(own.wrong(brought(salt % ranks)), 0);
      return;
    case Kind::nests:
      turn.execute(rows, columns);
      EXPECT_EQ(count_others(columns, salt), 0);
      return;
  }
}

bool goes_in_packets(const Context& context) {
  return context.size() > 1 && context.state()->device_topology.node_count() == 1;
}

/// As many as go in packets, of a kind that has a second round where there is one.
std::int64_t large(const Context& context) {
  return devices::PacketSlots::most_given / 8 / context.size();
}

// What memory holds that no rank has sent to is not a packet.
TEST(PacketNumbers, TheNumberAfterTheLargestIsNotThatOfEmptySlots) {
  NEEDS_DEVICES();
  for (const Kind kind : every_kind) {
    on_ranks(
        [&](Context& context) {
          if (!goes_in_packets(context)) return;
          check_exchange(context, kind, 1, 0);  // the plan of this needs no more than few packets
          set_number(context, std::numeric_limits<std::uint32_t>::max() - 2);
          for (int round = 0; round < 5; ++round) check_exchange(context, kind, 1, round);
          set_number(context, std::numeric_limits<std::uint32_t>::max() - 1);
          for (int round = 0; round < 3; ++round) {
            check_exchange(context, kind, round == 0 ? 1 : large(context), round + 5);
          }
        },
        {.device = test_device()});
  }
}

// A place that is seldom sent to may hold a packet from the round before.
RANK_TEST(PacketNumbers, ANumberThatComesAgainIsNotThatOfAnOldPacket) {
  NEEDS_DEVICES();
  if (!goes_in_packets(context)) return;
  for (const Kind kind : every_kind) {
    for (const std::uint32_t number : {1000U, 1001U}) {  // one of each half
      set_number(context, number - 1);
      check_exchange(context, kind, large(context), 1);
      set_number(context, devices::PacketSlots::renewal - 2);
      for (int round = 0; round < 4; ++round) check_exchange(context, kind, 1, round);
      set_number(context, number - 1);
      check_exchange(context, kind, large(context), 2);
    }
  }
}

}  // namespace
}  // namespace partita::testing
