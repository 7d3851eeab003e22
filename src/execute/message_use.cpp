#include "execute/message_use.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

using Side = MessageUse::Side;

/// A stretch of a buffer.
struct Stretch {
  int buffer = -1;
  std::int64_t first = 0;
  std::int64_t last = 0;  // behind the end
};

/// Which step has touched memory last.
class Touches {
 public:
  void touch(const Stretch& where, int step) {
    if (where.first >= where.last) return;
    Pieces& pieces = buffers_[where.buffer];
    cut(pieces, where.first);
    cut(pieces, where.last);
    pieces.erase(pieces.lower_bound(where.first), pieces.lower_bound(where.last));
    pieces[where.first] = {where.last, step};
  }

  /// -1: none.
  int last(const Stretch& where) const {
    const auto found = buffers_.find(where.buffer);
    if (found == buffers_.end()) return -1;
    const Pieces& pieces = found->second;
    auto piece = pieces.upper_bound(where.first);
    if (piece != pieces.begin()) --piece;
    int step = -1;
    for (; piece != pieces.end() && piece->first < where.last; ++piece) {
      if (piece->second.last > where.first) step = std::max(step, piece->second.step);
    }
    return step;
  }

 private:
  struct Piece {
    std::int64_t last = 0;
    int step = -1;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by their first byte; apart from each other

  /// No piece goes across `at` any more.
  static void cut(Pieces& pieces, std::int64_t at) {
    auto behind = pieces.lower_bound(at);
    if (behind == pieces.begin()) return;
    auto& [first, piece] = *std::prev(behind);
    if (piece.last <= at) return;
    pieces.insert(behind, {at, piece});
    piece.last = at;
  }

  std::map<int, Pieces> buffers_;
};

Stretch stretch_of(const Plan& plan, const Place& place, std::int64_t bytes) {
  const int memory = memory_of(plan, place);
  const Buffer& buffer = plan.buffers[static_cast<std::size_t>(memory)];
  const bool whole = memory != place.buffer || buffer.operand.has_value();
  if (whole) return {memory, 0, std::max(buffer.bytes, bytes)};
  return {memory, place.offset, place.offset + bytes};
}

/// The stretches of private scratch that a step touches: what it writes or sends, what it receives or reads.
struct Touched {
  std::vector<Stretch> out;
  std::vector<Stretch> in;
};

Touched touched_by(const Plan& plan, const Step& step) {
  Touched touched;
  if (step.kind == StepKind::send) touched.out.push_back(stretch_of(plan, step.from, step.bytes));
  if (step.kind == StepKind::receive) touched.in.push_back(stretch_of(plan, step.to, step.bytes));
  if (!is_copy(step.kind)) return touched;
  const std::int64_t bytes = moved_bytes(plan, step);
  if (is_private(plan, step.to)) touched.out.push_back(stretch_of(plan, step.to, bytes));
  if (step.kind != StepKind::fill && is_private(plan, step.from)) {
    touched.in.push_back(stretch_of(plan, step.from, bytes));
  }
  return touched;
}

/// Moves of one side and everything of the other touch different memory, and none is on both sides.
bool are_apart(const std::vector<Touched>& touched, const Plan& plan) {
  Touches packed, unpacked;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (!is_copy(plan.steps[i].kind)) continue;
    if (!touched[i].out.empty() && !touched[i].in.empty()) return false;
    for (const Stretch& stretch : touched[i].out) packed.touch(stretch, 0);
    for (const Stretch& stretch : touched[i].in) unpacked.touch(stretch, 0);
  }
  return std::ranges::none_of(touched, [&](const Touched& one) {
    const auto is_packed = [&](const Stretch& stretch) { return packed.last(stretch) >= 0; };
    const auto is_unpacked = [&](const Stretch& stretch) { return unpacked.last(stretch) >= 0; };
    return std::ranges::any_of(one.in, is_packed) || std::ranges::any_of(one.out, is_unpacked);
  });
}

}  // namespace

MessageUse find_message_use(const Plan& plan) {
  std::vector<Touched> touched;
  touched.reserve(plan.steps.size());
  for (const Step& step : plan.steps) touched.push_back(touched_by(plan, step));

  MessageUse use{std::vector<Side>(plan.steps.size(), Side::none), std::vector<int>(plan.steps.size(), -1),
                 are_apart(touched, plan), 0};
  if (std::ranges::none_of(plan.steps, [](const Step& step) { return is_message(step.kind); })) return use;
  Touches packed, unpacked;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool goes_out = !touched[i].out.empty();
    if (!goes_out && touched[i].in.empty()) continue;
    use.sides[i] = goes_out ? Side::out : Side::in;
    Touches& own = goes_out || !use.apart ? packed : unpacked;
    if (is_message(step.kind)) {
      use.largest = std::max(use.largest, step.bytes);
      use.after_move[i] = own.last(goes_out ? touched[i].out.front() : touched[i].in.front());
      continue;
    }
    for (const auto& list : {touched[i].out, touched[i].in}) {
      for (const Stretch& stretch : list) own.touch(stretch, static_cast<int>(i));
    }
  }
  return use;
}

std::vector<int> peers_of(const Plan& plan, StepKind kind) {
  std::vector<int> peers;
  for (const Step& step : plan.steps) {
    if (step.kind == kind) peers.push_back(step.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

}  // namespace partita
