#include "ranks/rank_run.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <type_traits>

#include "runtime/mpi_group.hpp"
#include "runtime/sockets_group.hpp"

namespace partita::testing {
namespace {

struct OutcomeBytes {
  bool good = true;
  std::array<char, 1000> what{};
};
static_assert(std::is_trivially_copyable_v<OutcomeBytes>);

/// Nothing can be tested any more, and nothing collective may be called.
[[noreturn]] void end_run(int rank, const std::string& why) {
  runtime::note_failed_context();
  std::fprintf(stderr, "[rank %d] the run ends here: %s\n", rank, why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

RankRun& rank_run() {
  static RankRun run;
  return run;
}

std::unique_ptr<runtime::ProcessGroup> make_group_of_processes(int ranks_per_node) {
  if (runtime::has_sockets()) return runtime::make_sockets_group(ranks_per_node, deadline());
  return runtime::make_mpi_group({}, ranks_per_node, deadline());
}

std::vector<Outcome> Referee::gather(const Outcome& mine) {
  OutcomeBytes sent{mine.good, {}};
  std::strncpy(sent.what.data(), mine.what.c_str(), sent.what.size() - 1);
  std::vector<OutcomeBytes> received(static_cast<std::size_t>(size()));
  std::vector<runtime::MessageId> sends, receives;
  for (int peer = 0; peer < size(); ++peer) {
    sends.push_back(group_->send(peer, runtime::Lane::data, &sent, sizeof(sent)));
    receives.push_back(group_->receive(peer, runtime::Lane::data, &received[static_cast<std::size_t>(peer)],
                                       sizeof(OutcomeBytes)));
  }
  std::vector<Outcome> outcomes;
  for (int peer = 0; peer < size(); ++peer) {
    const auto place = static_cast<std::size_t>(peer);
    wait(receives[place], peer);
    wait(sends[place], peer);
    outcomes.push_back({received[place].good, received[place].what.data()});
  }
  return outcomes;
}

void Referee::wait(runtime::MessageId message, int peer) {
  // A test may wait out its own deadline twice before it comes here.
  const auto latest = std::chrono::steady_clock::now() + 3 * deadline();
  for (int turn = 0; !group_->test(message); ++turn) {
    if (turn < 1000) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::string lost = group_->lost(peer);
    if (!lost.empty()) end_run(rank(), lost);
    if (std::chrono::steady_clock::now() > latest) {
      end_run(rank(), "rank " + std::to_string(peer) + " does not come to the end of its test");
    }
  }
}

}  // namespace partita::testing
