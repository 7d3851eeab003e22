// A rank leaves in the middle; all others are notified, whatever they are in.
#include <csignal>
#include <partita/error.hpp>

#include "stress/turn.hpp"
#include "support/rank_test.hpp"

namespace partita::testing {

using namespace std::chrono_literals;

After lost_ranks(Turn& turn) {
  const int ranks = turn.context.size();
  if (ranks == 1) return After::goes_on;
  const int gone = turn.random.number(0, ranks - 1);
  const int before = turn.random.number(0, 2);
  const auto body = turn.pick(std::array{redistributions, collective_calls, transforms, halos});
  const RandomLayouts same = turn.random;
  for (int i = 0; i < before; ++i) body(turn);
  turn.random = same;
  // Nobody is in an earlier turn any more when the rank leaves: some ranks have nothing to do in some of
  // those.
  if (turn.context.rank() == gone) {
    turn.context.barrier();
    if (partita::testing::ranks().kind == GroupKind::mpi) std::raise(SIGKILL);
    throw Leaves("this rank has had enough");
  }
  std::string text;
  bool lost = false;
  const auto start = std::chrono::steady_clock::now();
  try {
    turn.context.barrier();
    // Calls in which a rank has nothing to do with the lost one may come to their end.
    for (;;) {
      body(turn);
      turn.context.barrier();
    }
  } catch (const LostPeerError& error) {
    lost = true;
    text = error.what();
  } catch (const Error& error) {
    text = fmt::format("{}: {}", typeid(error).name(), error.what());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  turn.call = fmt::format("rank {} leaves: {}", gone, turn.call);
  turn.expect(lost, "not as a lost peer: " + text);
  turn.expect(took < 10s, fmt::format("told after {:.1f} s: {}", took.count(), text));
  return After::ends;
}

}  // namespace partita::testing
