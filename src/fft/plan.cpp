// Distributed transforms: stages of local transforms with the array changing hands in between.
//
// A transform over several axes is the product of transforms along each, in any order (but that the halved
// axis comes first from real numbers and last to them). Every stage transforms the axes along which its
// layout owns whole lines; `candidates` lists the sequences of layouts, `choose` prices them, and `Walk`
// writes the steps.
#include "fft/plan.hpp"

#include <utility>

#include "array/device_mirror.hpp"
#include "base/check.hpp"
#include "fft/four_step.hpp"
#include "fft/layouts.hpp"
#include "fft/local_transforms.hpp"
#include "fft/stores.hpp"
#include "fft/through_cache.hpp"
#include "redistribute/rounds.hpp"

namespace partita {

namespace {

using namespace fourier;

Layout as_input(const Problem& problem) {
  const Layout& layout = problem.input.layout;
  check(!layout.partial(),
        "the input ({}) is partial, so the result cannot have its distribution: specify a distribution",
        layout.to_string());
  const int halved = problem.halved_axis();
  return halved < 0 ? layout : with_extent(layout, halved, problem.shape[halved]);
}

void check_output(const Problem& problem, const Operand& output, bool in_place) {
  const Layout& layout = output.layout;
  check(layout.shape() == problem.shape, "the result of this transform has shape {}, but the output is {}",
        to_string(problem.shape), layout.to_string());
  check(output.dtype == problem.dtype, "the result of this transform is {}, but the output is {}",
        name(problem.dtype), name(output.dtype));
  check(layout.ranks() == problem.topology.ranks(), "the output {} must be laid out over the {} ranks",
        layout.to_string(), problem.topology.ranks());
  check(!layout.partial(), "the output ({}) is partial: a transform needs a destination with whole values",
        layout.to_string());
  if (const std::optional<Distribution>& wanted = problem.options.distribution) {
    check(same(layout, Layout(*wanted, problem.shape, layout.ranks())),
          "the requested distribution of the result is {}, but the output is {}", wanted->to_string(),
          layout.to_string());
  }
  if (!in_place) return;
  check(output.dtype == problem.input.dtype && output.space == problem.input.space &&
            output.axis_order == problem.input.axis_order && output.dense == problem.input.dense &&
            same(layout, problem.input.layout),
        "in place, input ({}) and output ({}) must be the same array", problem.input.to_string(),
        output.to_string());
}

// Whether lines are adjacent in memory.
bool has_fastest(const Operand& operand, const std::vector<int>& axes) {
  for (int i = operand.axis_order.size() - 1; i >= 0; --i) {
    const auto axis = static_cast<int>(operand.axis_order[i]);
    if (operand.layout.shape()[axis] > 1) return contains(axes, axis);
  }
  return true;
}

/// From a scheme to the steps of one rank. Where the array is at any moment is one buffer; a stage takes it
/// from there to another one, or back to the same. Buffers 0 and 1 of the plan are the operands.
class Walk {
 public:
  Walk(Steps& steps, const Problem& problem, bool in_place)
      : steps_(steps),
        problem_(problem),
        current_(in_place ? output : input),
        through_peers_(through_peers(problem)) {}

  void run(const Scheme& scheme) {
    last_ = &scheme.stages.back();
    stores_ = scheme.stores;
    first_stage(scheme.stages.front(), scheme.stages.size() > 1 ? &scheme.stages[1] : nullptr);
    for (std::size_t i = 1; i < scheme.stages.size(); ++i)
      next_stage(scheme.stages[i], i + 1 < scheme.stages.size() ? &scheme.stages[i + 1] : nullptr);
    if (lands()) put_pending(add_array(operand(output).layout, problem_.dtype), nullptr);
    if (current_ != output) hand_over(output);
    transform_pending();
    await_all(steps_, arrivals_);
    steps_.resolve();
  }

 private:
  static constexpr int input = 0;
  static constexpr int output = 1;

  /// A stage from one buffer to another, of which the rank transforms what is its own. It waits until it is
  /// known what comes next: a change of hands between nodes takes one part after the other.
  struct Pending {
    const Stage* stage;
    int from;
    int to;
  };

  const Operand& operand(int buffer) const { return steps_.operand(buffer); }
  bool is_last(const Stage& stage) const { return &stage == last_; }
  bool result_lies_as(const Layout& layout) const { return same(operand(output).layout, layout); }
  int add_array(const Layout& layout, Dtype dtype) {
    return steps_.add_array(layout, dtype, problem_.input.axis_order);
  }

  /// The same for what only the kernel that stores and the transforms before it read.
  int add_array_for_stores(const Layout& layout, Dtype dtype) {
    return add_array(with_room_in_rows(problem_, layout, dtype), dtype);
  }

  /// Peers may read and write it.
  bool reachable_in_place(int buffer) const {
    const Operand& array = operand(buffer);
    return array.residency == Residency::heap && array.dense && is_plain(array.layout) &&
           has_few_runs(array.layout);
  }

  bool handed_over_in_place(const Stage& stage, int from) const {
    return through_peers_ && reachable_in_place(from) && is_plain(stage.before) &&
           fits_through_cache(operand(from), stage);
  }

  /// Whether what a stage makes is stored in the memory of its owners, where the next one or the result
  /// wants it elsewhere.
  bool leaves_by_stores(const Stage& stage, const Stage* next) const {
    if (!stores_ || (next == nullptr && !may_store_result(problem_))) return false;
    return stored_axis(problem_, stage, next != nullptr ? next->before : operand(output).layout).has_value();
  }

  /// Whether the last stage's results are stored next to the result, and copied there when all have arrived.
  bool lands() const {
    return pending_ && current_ != output && !reachable_in_place(output) &&
           has_few_runs(operand(output).layout) && leaves_by_stores(*pending_->stage, nullptr);
  }

  void first_stage(const Stage& stage, const Stage* next) {
    if (!same(operand(current_).layout, stage.before)) {
      const bool rests = next == nullptr && !changes_dtype(problem_, stage) && result_lies_as(stage.before) &&
                         current_ != output;
      hand_over(rests ? output : add_array(stage.before, problem_.input.dtype));
    }
    if (stage.axes.empty()) return;
    // The result's own memory serves for what stands between the stages, where it has the right layout.
    const bool done = problem_.doubles ? next == nullptr : true;
    const bool fits = done && result_lies_as(stage.after);
    const bool peers_read = next != nullptr && through_peers_;
    // What is stored in the memory of others needs none here.
    const bool stored = leaves_by_stores(stage, next);
    int to = current_;
    if (stored && next != nullptr && stage.axes.size() == 1) {
      // it is transformed from where it is
    } else if (fits && (!peers_read || reachable_in_place(output))) {
      to = output;
    } else if (current_ == input || current_ == output || changes_dtype(problem_, stage)) {
      const Dtype dtype = done ? problem_.dtype : problem_.input.dtype;
      to = stored ? add_array_for_stores(stage.after, dtype) : add_array(stage.after, dtype);
    }
    transform(stage, current_, to);
  }

  // Inside a node the lines are gathered from the ranks that hold them; between nodes and devices arrays are
  // redistributed first.
  void next_stage(const Stage& stage, const Stage* next) {
    if (handed_over_in_place(stage, current_)) {
      transform_pending();
      const int to = stored(stage);
      transform_through_cache(steps_, problem_, stage, is_last(stage), current_, to);
      current_ = to;
      return;
    }
    const bool changes = changes_dtype(problem_, stage);
    const bool ends = is_last(stage) && current_ != output && result_lies_as(stage.after);
    const bool in_groups = pending_ && copied_groups_of(problem_, *pending_->stage, stage).several();
    const bool takes = ends && !changes && (!(stores_ || in_groups) || reachable_in_place(output));
    const Dtype before = dtype_between(problem_);
    const int arrived = arrives_with_room(stage, ends, next) ? add_array_for_stores(stage.before, before)
                        : takes                              ? output
                                                             : add_array(stage.before, before);
    hand_over(arrived, &stage);
    transform(stage, arrived, ends ? output : changes ? add_array(stage.after, problem_.dtype) : arrived);
  }

  /// Whether a stage's array is stored by peers in rows that would begin anywhere, and read by the kernel
  /// alone.
  bool arrives_with_room(const Stage& stage, bool ends, const Stage* next) const {
    if (!stores_ || !pending_ || !stored_axis(problem_, *pending_->stage, stage.before)) return false;
    if (!is_of_kernel(problem_, stage) || !(ends || leaves_by_stores(stage, next))) return false;
    return has_room(with_room_in_rows(problem_, stage.before, dtype_between(problem_)), stage);
  }
  static bool has_room(const Layout& layout, const Stage& stage) {
    return !(layout.shape() == stage.before.shape());
  }

  /// Where a stage that works through cache stores its lines: in the result if it is the last; there or where
  /// they came from, in the memory of the peers.
  int stored(const Stage& stage) {
    const Dtype after = changes_dtype(problem_, stage) ? problem_.dtype : operand(current_).dtype;
    if (is_last(stage)) {
      if (result_lies_as(stage.after) || reachable_in_place(output)) return output;
      const bool serves = result_lies_as(operand(current_).layout) && after == operand(current_).dtype;
      if (serves && current_ != input) return current_;
    }
    return add_array(stage.after, after);
  }

  void transform(const Stage& stage, int from, int to) {
    pending_ = Pending{&stage, from, to};
    current_ = to;
  }

  /// Whether what is transformed passes through memory that is neither that of `from` nor that of `to`.
  bool needs_scratch(const Pending& pending) const {
    return problem_.doubles && changes_dtype(problem_, *pending.stage) && pending.stage->axes.size() > 1;
  }

  void transform_pending() {
    if (!pending_) return;
    const Pending now = *std::exchange(pending_, std::nullopt);
    const Stage& stage = *now.stage;
    const Arrivals arrivals = std::exchange(arrivals_, {});
    if (arrivals.groups.several()) {
      return transform_arriving(steps_, problem_, stage, is_last(stage),
                                stores_ && is_of_kernel(problem_, stage), arrivals, now.from, now.to);
    }
    await_all(steps_, arrivals);
    if (is_of_kernel(problem_, stage) && has_room(operand(now.from).layout, stage)) {
      transform_by_kernel(steps_, problem_, stage, is_last(stage), now.from, now.to);
    } else if (problem_.on_device() || (has_fastest(operand(now.from), stage.axes) && !needs_scratch(now))) {
      const Region own = stage.before.region(steps_.rank());
      transform_owned(steps_, problem_, stage, is_last(stage), own, now.from, now.to);
    } else if (needs_scratch(now)) {
      transform_back_to_real(steps_, problem_, stage, is_last(stage), now.from, now.to);
    } else {
      transform_through_cache(steps_, problem_, stage, is_last(stage), now.from, now.to);
    }
  }

  /// The groups into which pending transfers are cut for `next` (if any), if they are sent piece by piece
  /// into `to`; nothing: another method is required.
  std::optional<Groups> groups_into(int to, std::optional<int> stored, const Stage* next) const {
    if (stored) return next != nullptr ? groups_of(problem_, *pending_->stage, *stored, *next) : Groups{};
    if (!problem_.on_device() || !is_plain(operand(to).layout)) return std::nullopt;
    if (arrivals_.groups.several()) return Groups{};
    if (next == nullptr) return std::nullopt;
    const Groups groups = copied_groups_of(problem_, *pending_->stage, *next);
    return groups.several() ? std::optional(groups) : std::nullopt;
  }

  /// What is pending into another buffer, stored by its last transform, or copied in groups; false: that has
  /// to be done otherwise. `next`: the stage that is to come there, if any.
  bool put_pending(int to, const Stage* next) {
    if (!pending_ || !reachable_in_place(to)) return false;
    const std::optional<int> axis =
        stores_ ? stored_axis(problem_, *pending_->stage, operand(to).layout) : std::nullopt;
    const std::optional<Groups> groups = groups_into(to, axis, next);
    if (!groups) return false;
    const Pending now = *std::exchange(pending_, std::nullopt);
    const LeavingStage what{*now.stage, is_last(*now.stage), axis, now.from, now.to};
    arrivals_ = put_into_owners(steps_, problem_, what, std::exchange(arrivals_, {}), to, *groups);
    current_ = to;
    return true;
  }

  /// The array as it is now into another buffer, with all that has to be transformed before.
  void hand_over(int to, const Stage* next = nullptr) {
    if (put_pending(to, next)) return;
    await_all(steps_, std::exchange(arrivals_, {}));
    redistribution::Parts parts;
    if (pending_ && (problem_.on_device() || !(needs_scratch(*pending_) && pending_->from == input))) {
      const Operand array = operand(current_);
      parts = parts_of(problem_, array.layout, array.dtype, pending_->stage->axes, operand(to).layout);
    }
    if (parts.count == 1) transform_pending();
    const auto make = [&](const Region& part) {
      if (!pending_) return;
      const Stage& stage = *pending_->stage;
      transform_owned(steps_, problem_, stage, is_last(stage), region_before(stage, part), pending_->from,
                      pending_->to);
    };
    if (pending_) make_nothing();
    steps_.redistribute(current_, to, parts, make);
    pending_.reset();
    current_ = to;
  }

  /// All ranks have the buffers of what is made in parts, those without a part, too.
  void make_nothing() {
    const Stage& stage = *pending_->stage;
    Region nothing = stage.before.region(steps_.rank());
    for (IndexSet& set : nothing.sets) set = IndexSet::range(0, 0);
    transform_owned(steps_, problem_, stage, is_last(stage), nothing, pending_->from, pending_->to);
  }

  Steps& steps_;
  const Problem& problem_;
  const Stage* last_ = nullptr;
  std::optional<Pending> pending_;
  int current_ = input;
  bool through_peers_ = false;  // lines are gathered from the ranks that hold them
  Arrivals arrivals_;           // on their way into the current buffer
  bool stores_ = false;         // results are stored where they belong, where they can be
};

}  // namespace

Layout result_layout(const Operand& input, const Topology& topology, const FftOptions& options,
                     const Machine& machine) {
  const Problem problem = make_problem(input, topology, options, machine);
  if (options.output == Output::as_input && !options.distribution) return as_input(problem);
  if (options.output == Output::cheapest) return choose(problem, std::nullopt).result();
  check(options.distribution.has_value(), "output \"given\" needs a distribution");
  Layout given(*options.distribution, problem.shape, topology.ranks());
  check(!given.partial(), "the output ({}) is partial: a transform needs a destination with whole values",
        given.to_string());
  return given;
}

Plan plan_fft(const Operand& input, const Operand& output, const Topology& topology, int rank,
              const FftOptions& options, const Machine& machine, bool in_place) {
  return plan_transform(input, output, topology, rank, options, machine, in_place, false).plan;
}

namespace {

/// Whatever stands between the stages.
bool fit_groups(const Problem& problem) {
  RedistributeOptions options;
  options.staging_bytes = problem.options.scratch_bytes;
  Operand widest = problem.input;
  widest.dtype = Dtype::c128;
  return redistribution::fits_rounds(
      redistribution::make_problem(widest, widest, problem.topology, 0, options));
}

}  // namespace

TransformPlan fourier::plan_transform(const Operand& given_input, const Operand& given_output,
                                      const Topology& topology, int rank, const FftOptions& options,
                                      const Machine& machine, bool in_place, bool grouped) {
  const Operand input = arrays::as_planned(given_input, given_output.space);
  const Operand output = arrays::as_planned(given_output, given_input.space);
  Problem problem = make_problem(input, topology, options, machine);
  problem.reachable_output = output.residency == Residency::heap && output.dense;
  problem.grouped = grouped && problem.on_device() && topology.node_count() > 1 && fit_groups(problem);
  check(rank >= 0 && rank < topology.ranks(), "rank {} is not one of the {} ranks", rank, topology.ranks());
  check_output(problem, output, in_place);
  const Scheme scheme = choose(problem, output.layout);
  Plan plan{"fft", scheme.name, scheme.reason, rank, topology, {}, {}};
  plan.grouped = problem.grouped;
  plan.identity = {{"input", input.to_string()},
                   {"output", output.to_string()},
                   {"options", to_string(options) + (in_place ? " in place" : "")}};
  Steps steps(plan, options.scratch_bytes);
  steps.add_operand("input", input);
  steps.add_operand("output", output);
  if (options.exchange == FftExchange::automatic) steps.allow_packets();
  if (scheme.factors) {
    if (problem.halved_axis() >= 0) {
      walk_real_line(steps, problem, *scheme.factors);
    } else {
      walk_four_step(steps, problem, *scheme.factors, in_place ? 1 : 0, 1);
    }
    steps.resolve();
  } else {
    Walk(steps, problem, in_place).run(scheme);
  }
  if (!steps.packets().empty()) plan.reason += "; small exchanges: in packets if all devices support them";
  return {std::move(plan), std::move(steps.packets())};
}

}  // namespace partita
