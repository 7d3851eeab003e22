// The ranks as threads of one process. A send and its receive are matched by pointer: the second of the two
// copies the bytes from buffer to buffer, once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <partita/context.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

class MailRoom;

/// What the threads of one ThreadGroup share. Thread-safe.
class ThreadsShared {
 public:
  explicit ThreadsShared(int ranks);  ///< throws ArgumentError below 1
  int ranks() const { return static_cast<int>(members_.size()); }

  /// The mail room of this rank's next group. As with a duplicated communicator, the ranks' first groups
  /// belong together, their second ones, and so on.
  std::shared_ptr<MailRoom> next_room(int rank);

  /// The rank takes no further part: ranks that wait for it get "rank 2 (thread) has ended" with the reason.
  /// Only the first call counts.
  void end(int rank, std::string_view reason);
  /// "" while the rank lives.
  std::string ended(int rank) const;

 private:
  struct Member {
    std::size_t groups = 0;  ///< made so far
    std::string ended;
  };
  mutable std::mutex mutex_;
  std::vector<Member> members_;
  struct Room {
    std::shared_ptr<MailRoom> room;
    int arrived = 0;
  };
  std::map<std::size_t, Room> rooms_;  ///< those that some member has yet to enter
};

/// A place in a ThreadGroup: what `Communicator::thread_member` points to.
struct ThreadMember {
  std::shared_ptr<ThreadsShared> shared;
  int rank = 0;
};

/// `ranks_per_node` 0: PARTITA_RANKS_PER_NODE, or all ranks on one node. Throws ArgumentError. Local.
std::unique_ptr<ProcessGroup> make_threads_group(std::shared_ptr<ThreadsShared> shared, int rank,
                                                 int ranks_per_node);
std::unique_ptr<ProcessGroup> make_threads_group(const Communicator& communicator, int ranks_per_node);

}  // namespace partita::runtime
