// One iteration of the stress program, of one rank.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <partita/context.hpp>
#include <partita/view.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/models/any_memory.hpp"
#include "support/models/random_layouts.hpp"

namespace partita::testing {

/// What was found is wrong.
class Wrong : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a turn leaves the context.
enum class After {
  goes_on,  ///< another turn may use it
  ends,     ///< it has failed, or is not to be used any more
};

struct Turn {
  Context& context;
  RandomLayouts random;  ///< what is done: the same on all ranks
  std::mt19937_64 own;   ///< when it is done: this rank's own
  Stream stream;         ///< where work on a device is put; null: the context's own
  std::string call;      ///< what is done, to repeat it

  bool on_device() const { return context.device().kind == Device::Kind::cuda; }

  /// Sometimes this rank is late, or its stream.
  void delay();

  void expect(bool holds, const std::string& what) const {
    if (!holds) throw Wrong(what);
  }

  template <class Values>
  auto pick(const Values& values) {
    return values[static_cast<std::size_t>(random.number(0, static_cast<int>(std::size(values)) - 1))];
  }
};

/// In any distribution in which every element has one value.
Layout whole_layout(RandomLayouts& random, const Shape& shape, int ranks);

/// A turn is one of these; each draws what it does from `turn.random` and throws Wrong, or what the library
/// throws.
After redistributions(Turn& turn);
After collective_calls(Turn& turn);
After products(Turn& turn);
After linear_systems(Turn& turn);
After transforms(Turn& turn);
After spectra(Turn& turn);
After halos(Turn& turn);
After point_to_point(Turn& turn);
After memory(Turn& turn);
After subgroups(Turn& turn);
/// One rank calls something else than the others. All are notified by DisagreementError, in time.
After mismatches(Turn& turn);
/// One rank leaves by an exception, or its process is killed. All others are notified by LostPeerError, in
/// time.
After lost_ranks(Turn& turn);

/// Thrown by a rank that leaves on purpose.
class Leaves : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A call on a stream, enqueued again and again before any wait: `source` gets the values of a round, the
/// call reads them, `source` is overwritten right behind it and `destination` is kept in the result of the
/// round. All views of one side are alike and in device memory.
struct StreamRounds {
  View source, destination;
  View junk_source, junk_destination;
  std::vector<View> values, results;
};
void run_rounds(Turn& turn, const StreamRounds& rounds, const std::function<void()>& call);

/// The same of a call from one array to another, as often as `count` says.
struct ArrayRounds {
  std::function<Wrapped()> another_source, another_destination;
  std::function<void(Array& source, int round)> write_values;
  std::function<void(Array& source, Array& destination)> write_junk;
  std::function<void(const Array& result, int round)> expect_right;
  int count = 1;
};
void run_rounds(Turn& turn, const Array& source, const Array& destination, const ArrayRounds& rounds,
                const std::function<void()>& call);

/// Numbers at random, of seeds from `seed` on, through `call(input, output)`; `what` makes the arrays and
/// judges results: `turn`, another_input(), another_output(), expect_right(result, seed). One after the
/// other, each done when `call` returns.
template <class What, class Call>
void run_random_rounds(const What& what, int count, std::uint64_t seed, const Call& call) {
  Wrapped input = what.another_input(), output = what.another_output();
  for (int round = 0; round < count; ++round, ++seed) {
    fill_random(input.array, seed);
    fill_random(output.array, seed + 1);
    what.turn.delay();
    call(input.array, output.array);
    fill_random(input.array, seed + 2);
    what.turn.delay();
    what.expect_right(output.array, seed);
  }
}

/// The same of a call in a stream, given again and again.
template <class What, class Call>
void run_random_rounds_in_stream(const What& what, int count, std::uint64_t seed, const Call& call) {
  Wrapped input = what.another_input(), output = what.another_output();
  const auto of = [&](int round) { return seed + static_cast<std::uint64_t>(round); };
  run_rounds(what.turn, input.array, output.array,
             {[&] { return what.another_input(); }, [&] { return what.another_output(); },
              [&](Array& array, int round) { fill_random(array, of(round)); },
              [&](Array& source, Array& destination) {
                fill_random(source, of(1001));
                fill_random(destination, of(1002));
              },
              [&](const Array& array, int round) { what.expect_right(array, of(round)); }, count},
             [&] { call(input.array, output.array); });
}

}  // namespace partita::testing
