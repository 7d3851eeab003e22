#include "execute/direct_messages.hpp"

#include <algorithm>
#include <limits>

#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

/// Bytes of an operand or of shared scratch that a step touches, from the first to the last.
struct Hull {
  int buffer = -1;  // -1: none
  std::int64_t first = 0, last = 0;

  bool meets(const Hull& other) const {
    return buffer >= 0 && buffer == other.buffer && first < other.last && other.first < last;
  }
};

struct Hulls {
  Hull read, written;
};

class Search {
 public:
  Search(const Plan& plan, const MessageUse& use, std::span<const std::vector<StridedCopy>> moves)
      : plan_(plan), use_(use), moves_(moves), hulls_(plan.steps.size()) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (!is_copy(step.kind)) continue;
      ++copies_;
      if (step.kind != StepKind::fill) hulls_[i].read = hull(step.from, i, true);
      hulls_[i].written = hull(step.to, i, false);
    }
  }

  DirectMessages run() {
    result_.spared.assign(plan_.steps.size(), false);
    result_.copy.assign(plan_.steps.size(), DirectMessages::packed);
    // Each is compared with all others.
    if (copies_ > most_copies) return std::move(result_);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.kind == StepKind::send) look_at_send(i);
      if (step.kind == StepKind::copy && step.after.size() == 1 && is_private(plan_, step.from)) {
        look_at_unpacking(i);
      }
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t most_copies = 4096;

  Hull hull(const Place& place, std::size_t step, bool is_source) const {
    if (is_private(plan_, place) || moves_[step].empty()) return {};
    Hull all{memory_of(plan_, place), std::numeric_limits<std::int64_t>::max(),
             std::numeric_limits<std::int64_t>::min()};
    for (const StridedCopy& nest : moves_[step]) {
      std::int64_t first = is_source ? nest.from_offset : nest.to_offset;
      std::int64_t last = first + nest.item_bytes;
      for (const CopyLoop& loop : nest.loops) {
        const std::int64_t reach = (loop.count - 1) * (is_source ? loop.from_stride : loop.to_stride);
        (reach < 0 ? first : last) += reach;
      }
      all.first = std::min(all.first, first);
      all.last = std::max(all.last, last);
    }
    return all;
  }

  /// One run of so many bytes, the one of private scratch at this offset.
  bool is_run(std::size_t step, std::int64_t bytes, std::int64_t offset, bool packs) const {
    if (moves_[step].size() != 1) return false;
    const StridedCopy& nest = moves_[step].front();
    return nest.loops.empty() && nest.item_bytes == bytes &&
           (packs ? nest.to_offset : nest.from_offset) == offset;
  }

  void look_at_send(std::size_t message) {
    const int packing = use_.after_move[message];
    if (packing < 0) return;
    const auto copy = static_cast<std::size_t>(packing);
    const Step& step = plan_.steps[message];
    if (plan_.steps[copy].kind != StepKind::copy || !is_run(copy, step.bytes, step.from.offset, true)) return;
    for (std::size_t later = copy + 1; later < hulls_.size(); ++later) {
      if (hulls_[later].written.meets(hulls_[copy].read)) return;
    }
    spare(message, copy);
  }

  void look_at_unpacking(std::size_t copy) {
    const auto message = static_cast<std::size_t>(plan_.steps[copy].after.front());
    const Step& step = plan_.steps[message];
    if (step.kind != StepKind::receive || !is_run(copy, step.bytes, step.to.offset, false)) return;
    for (std::size_t earlier = 0; earlier < copy; ++earlier) {
      const Hulls& other = hulls_[earlier];
      if (other.written.meets(hulls_[copy].written) || other.read.meets(hulls_[copy].written)) return;
    }
    spare(message, copy);
  }

  void spare(std::size_t message, std::size_t copy) {
    result_.spared[copy] = true;
    result_.copy[message] = copy;
  }

  const Plan& plan_;
  const MessageUse& use_;
  std::span<const std::vector<StridedCopy>> moves_;
  std::vector<Hulls> hulls_;  // by step
  std::size_t copies_ = 0;
  DirectMessages result_;
};

}  // namespace

DirectMessages find_direct_messages(const Plan& plan, const MessageUse& use,
                                    std::span<const std::vector<StridedCopy>> moves) {
  return Search(plan, use, moves).run();
}

}  // namespace partita
