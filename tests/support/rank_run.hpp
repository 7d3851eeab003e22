// The run that rank_test.hpp speaks of: set up by main, used by on_ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/rank_test.hpp"

namespace partita::testing {

/// How one rank came through one test.
struct Outcome {
  bool good = true;
  std::string what;
  std::string plans = {};  ///< that its context keeps in the end; "": there is none any more
};

/// Notifies all processes of the others' results of a test, over a group which a failed context does not
/// touch. One per process. A process that does not answer ends the run.
class Referee {
 public:
  explicit Referee(std::unique_ptr<runtime::ProcessGroup> group) : group_(std::move(group)) {}
  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }
  std::vector<Outcome> gather(const Outcome& mine);

 private:
  void wait(runtime::MessageId message, int peer);
  std::unique_ptr<runtime::ProcessGroup> group_;
};

/// The processes of the launcher that has started this one, over MPI or over sockets. Collective.
std::unique_ptr<runtime::ProcessGroup> make_group_of_processes(int ranks_per_node);

struct RankRun {
  Ranks ranks;
  int seed = 0;
  std::unique_ptr<Referee> referee;  ///< of processes only
  std::optional<Context> kept;       ///< the context of default options
};

/// The one of this process.
RankRun& rank_run();

/// A test failure where two ranks keep different plans, or in another order: they would not go alike.
void expect_same_plans(const std::vector<std::string>& plans);

}  // namespace partita::testing
