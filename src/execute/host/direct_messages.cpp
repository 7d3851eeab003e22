#include "execute/host/direct_messages.hpp"

#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita::execution {
namespace {

class Search {
 public:
  Search(const Plan& plan, std::span<const planning::Touched> touched, std::span<const int> closing,
         std::span<const std::vector<kernels::StridedCopy>> moves)
      : plan_(plan),
        touched_(touched),
        closing_(closing),
        moves_(moves),
        reader_(plan.steps.size(), -1),
        needed_(plan.steps.size(), false) {
    found_.spared.assign(plan.steps.size(), false);
    found_.copy.assign(plan.steps.size(), DirectMessages::packed);
  }

  DirectMessages run() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (step.kind == StepKind::send) sends_.push_back(i);
      if (step.kind == StepKind::receive) received_.touch(touched_[i].written.front(), number(i));
      if (step.kind == StepKind::compute) note(i);
      if (planning::is_copy(step.kind) && !step.region.empty()) {
        note_readers(i);
        if (step.kind == StepKind::copy && step.after.size() == 1) look_at_unpacking(i);
        note(i);
      }
      if (closing_[i] != number(i)) continue;
      for (const std::size_t message : sends_) look_at_send(message, i);
      sends_.clear();
    }
    for (std::size_t& copy : found_.copy) {
      if (copy == DirectMessages::packed) continue;
      found_.spared[copy] = !needed_[copy];
      if (needed_[copy]) copy = DirectMessages::packed;
    }
    return std::move(found_);
  }

 private:
  static int number(std::size_t step) { return static_cast<int>(step); }

  /// A step that reads what was packed, or what another step has read on arrival, needs it in the scratch.
  void note_readers(std::size_t copy) {
    for (const planning::MemoryRange& range : touched_[copy].read) {
      if (const int packing = written_.last(range); packing >= 0)
        needed_[static_cast<std::size_t>(packing)] = true;
      if (const int message = received_.last(range); message >= 0) note_reader(message, copy);
    }
    for (const int message : plan_.steps[copy].after) note_reader(message, copy);
  }

  void note_reader(int message, std::size_t copy) {
    int& reader = reader_[static_cast<std::size_t>(message)];
    if (reader >= 0 && reader != number(copy))
      needed_[static_cast<std::size_t>(reader)] = needed_[copy] = true;
    reader = number(copy);
  }

  void note(std::size_t step) {
    for (const planning::MemoryRange& range : touched_[step].read) touches_.touch(range, number(step));
    for (const planning::MemoryRange& range : touched_[step].written) {
      touches_.touch(range, number(step));
      written_.touch(range, number(step));
    }
  }

  /// One run of so many bytes, the one of private scratch at this offset.
  bool is_run(std::size_t step, std::int64_t bytes, std::int64_t offset, bool packs) const {
    if (moves_[step].size() != 1) return false;
    const kernels::StridedCopy& nest = moves_[step].front();
    return nest.loops.empty() && nest.item_bytes == bytes &&
           (packs ? nest.to_offset : nest.from_offset) == offset;
  }

  /// It would leave when its group does, at the step `group`.
  void look_at_send(std::size_t message, std::size_t group) {
    const Step& step = plan_.steps[message];
    const int packing = touches_.last(touched_[message].read.front());
    if (packing < 0) return;
    const auto copy = static_cast<std::size_t>(packing);
    const Step& pack = plan_.steps[copy];
    if (pack.kind != StepKind::copy || planning::is_private(plan_, pack.from) ||
        !planning::is_private(plan_, pack.to) || !is_run(copy, step.bytes, step.from.offset, true) ||
        written_.last(touched_[copy].read.front()) > packing) {
      needed_[copy] = true;
      return;
    }
    touches_.touch(touched_[copy].read.front(), number(group));
    found_.copy[message] = copy;
  }

  /// It would arrive with its group.
  void look_at_unpacking(std::size_t copy) {
    const auto message = static_cast<std::size_t>(plan_.steps[copy].after.front());
    const Step& step = plan_.steps[message];
    if (step.kind != StepKind::receive || !planning::is_private(plan_, plan_.steps[copy].from) ||
        planning::is_private(plan_, plan_.steps[copy].to) || reader_[message] != number(copy) ||
        !is_run(copy, step.bytes, step.to.offset, false) ||
        touches_.last(touched_[copy].written.front()) >= closing_[message]) {
      return;
    }
    found_.copy[message] = copy;
  }

  const Plan& plan_;
  std::span<const planning::Touched> touched_;
  std::span<const int> closing_;
  std::span<const std::vector<kernels::StridedCopy>> moves_;
  planning::LastTouch touches_, written_;  // by copies, and what computes
  planning::LastTouch received_;           // by messages
  std::vector<int> reader_;                // by step: of a message the last copy that reads it; -1: none yet
  std::vector<bool> needed_;               // by step: a copy that is made
  std::vector<std::size_t> sends_;         // of the group under way
  DirectMessages found_;
};

}  // namespace

DirectMessages find_direct_messages(const Plan& plan, std::span<const planning::Touched> touched,
                                    std::span<const int> closing,
                                    std::span<const std::vector<kernels::StridedCopy>> moves) {
  return Search(plan, touched, closing, moves).run();
}

}  // namespace partita::execution
