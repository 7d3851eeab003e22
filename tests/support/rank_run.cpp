#include "support/rank_run.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <type_traits>

#include "runtime/groups/mpi_group.hpp"
#include "runtime/groups/sockets_group.hpp"

namespace partita::testing {
namespace {

struct OutcomeBytes {
  bool good = true;
  std::array<char, 2100> what{};
  std::array<char, 64> plans{};
};

template <std::size_t size>
void write_cut(std::array<char, size>& to, const std::string& text) {
  std::strncpy(to.data(), text.c_str(), size - 1);
}

/// What ranks that are threads say to each other.
struct Said {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int, std::string> texts;  // of those that have come
  std::vector<std::string> all;      // of the last time that all had
  int times = 0;
};

Said& said() {
  static Said instance;
  return instance;
}
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
  OutcomeBytes sent{mine.good, {}, {}};
  write_cut(sent.what, mine.what);
  write_cut(sent.plans, mine.plans);
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
    outcomes.push_back({received[place].good, received[place].what.data(), received[place].plans.data()});
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

std::vector<std::string> texts_of_all(int rank, const std::string& mine) {
  if (rank_run().referee) {
    std::vector<std::string> texts;
    for (const Outcome& outcome : rank_run().referee->gather({true, mine})) texts.push_back(outcome.what);
    return texts;
  }
  std::unique_lock lock(said().mutex);
  const int time = said().times;
  said().texts[rank] = mine;
  if (static_cast<int>(said().texts.size()) == ranks().count) {
    said().all.clear();
    for (auto& [number, text] : said().texts) said().all.push_back(std::move(text));
    said().texts.clear();
    ++said().times;
    said().changed.notify_all();
  }
  EXPECT_TRUE(said().changed.wait_for(lock, 2 * deadline(), [&] { return said().times != time; }));
  return said().all;
}

void expect_same_text_on_all(int rank, const std::string& mine) {
  for (const std::string& other : texts_of_all(rank, mine)) EXPECT_EQ(other, mine);
}

void expect_same_plans(const std::vector<std::string>& plans) {
  const bool all_have_them = std::ranges::find(plans, "") == plans.end();
  if (all_have_them && std::ranges::adjacent_find(plans, std::ranges::not_equal_to()) != plans.end())
    ADD_FAILURE() << "the ranks keep different plans: " << ::testing::PrintToString(plans);
}

}  // namespace partita::testing
