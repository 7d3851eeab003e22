// Messages and signals between the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace partita::verification {

/// One end of a message.
struct MessageEnd {
  int step = 0;
  std::int64_t bytes = 0;
};

/// The messages of an ordered pair: the k-th sent is the k-th received.
struct Lane {
  std::vector<MessageEnd> sends;
  std::vector<MessageEnd> receives;
};

class Messages {
 public:
  Lane& lane(int from, int to) { return lanes_[{from, to}]; }
  const std::map<std::pair<int, int>, Lane>& lanes() const { return lanes_; }

  std::int64_t& signals(int from, int to, int channel) { return signals_[{from, to, channel}]; }
  const std::map<std::array<int, 3>, std::int64_t>& all_signals() const { return signals_; }

 private:
  std::map<std::pair<int, int>, Lane> lanes_;
  std::map<std::array<int, 3>, std::int64_t> signals_;
};

}  // namespace partita::verification
