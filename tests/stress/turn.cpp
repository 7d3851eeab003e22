#include "stress/turn.hpp"

#include <thread>

#include "context/context_state.hpp"
#include "device/accelerator.hpp"
#include "device/device_synchronization.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/rank_test.hpp"

namespace partita::testing {
namespace {

/// From the first element to the last, including what is between.
std::int64_t span_bytes(const View& view) {
  std::int64_t last = 0;
  for (int d = 0; d < view.extents.size(); ++d) last += (view.extents[d] - 1) * view.strides[d];
  return volume(view.extents) == 0 ? 0 : (last + 1) * size_of(view.dtype);
}

/// In stream order, by the device itself.
void copy_behind(const Turn& turn, const View& from, const View& to) {
  devices::Accelerator& device = *turn.context.state()->device;
  device.use();
  const std::int64_t bytes = span_bytes(from);
  if (bytes > 0)
    device.copy_bytes(from.data, to.data, bytes, devices::stream_or_own(*turn.context.state(), turn.stream));
}

}  // namespace

Layout whole_layout(RandomLayouts& random, const Shape& shape, int ranks) {
  for (;;) {
    Layout layout = random.layout(shape, ranks);
    if (!layout.partial()) return layout;
  }
}

void Turn::delay() {
  const auto chance = own() % 64;
  if (chance < 12) std::this_thread::sleep_for(std::chrono::microseconds(own() % 400));
  if (chance == 63) std::this_thread::sleep_for(std::chrono::milliseconds(4));
  if (chance < 58 || chance == 63 || !on_device() || !tests_fake_devices()) return;
  delay_fake_stream(devices::stream_or_own(*context.state(), stream),
                    std::chrono::microseconds(own() % 3000));
}

void run_rounds(Turn& turn, const StreamRounds& rounds, const std::function<void()>& call) {
  for (std::size_t round = 0; round < rounds.values.size(); ++round) {
    copy_behind(turn, rounds.values[round], rounds.source);
    copy_behind(turn, rounds.junk_destination, rounds.destination);
    turn.delay();
    call();
    copy_behind(turn, rounds.junk_source, rounds.source);
    copy_behind(turn, rounds.destination, rounds.results[round]);
  }
  turn.context.synchronize(turn.stream);
}

void run_rounds(Turn& turn, const Array& source, const Array& destination, const ArrayRounds& rounds,
                const std::function<void()>& call) {
  Wrapped junk_source = rounds.another_source(), junk_destination = rounds.another_destination();
  rounds.write_junk(junk_source.array, junk_destination.array);
  std::vector<Wrapped> values, results;
  StreamRounds all{
      source.local(), destination.local(), junk_source.array.local(), junk_destination.array.local(), {}, {}};
  for (int round = 0; round < rounds.count; ++round) {
    rounds.write_values(values.emplace_back(rounds.another_source()).array, round);
    results.push_back(rounds.another_destination());
    all.values.push_back(values.back().array.local());
    all.results.push_back(results.back().array.local());
  }
  run_rounds(turn, all, call);
  for (int round = 0; round < rounds.count; ++round)
    rounds.expect_right(results[static_cast<std::size_t>(round)].array, round);
}

}  // namespace partita::testing
