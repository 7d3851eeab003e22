#include "fft/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "fft/four_step.hpp"
#include "fft/layouts.hpp"
#include "fft/prices.hpp"
#include "fft/stores.hpp"

namespace partita::fourier {
namespace {

std::string describe(const Scheme& scheme) {
  return fmt::format("{} {:.3g} ms and {:.4g} MiB received", scheme.name, scheme.seconds * 1e3,
                     static_cast<double>(scheme.moved_bytes) / (1 << 20));
}

/// The best of each method, and of the chosen one the best in the other way, so that the reader sees what was
/// compared.
std::string compared(const std::vector<Scheme>& schemes, const Scheme& chosen) {
  std::string text;
  for (const FftMethod method :
       {FftMethod::local, FftMethod::slab, FftMethod::pencil, FftMethod::four_step}) {
    const Scheme* best = nullptr;
    for (const Scheme& scheme : schemes) {
      if (scheme.method != method || (scheme.method == chosen.method && scheme.stores == chosen.stores))
        continue;
      if (best == nullptr || scheme.seconds < best->seconds) best = &scheme;
    }
    if (best != nullptr) text += "; " + describe(*best);
  }
  return text;
}

// The columns are gathered, stored in rows, and these stored transposed; a half spectrum is in other parts
// than the whole one.
void predict_four_step(Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  const auto ranks = static_cast<double>(problem.topology.ranks());
  const Stage& stage = scheme.stages.front();
  const Layout columns(Slab(1), {scheme.factors->rows, scheme.factors->columns}, problem.topology.ranks());
  const Layout rows(Slab(0), columns.shape(), problem.topology.ranks());
  const Dtype dtype = problem.halves ? problem.dtype : problem.input.dtype;
  const double part =
      static_cast<double>(size_of(dtype)) * static_cast<double>(volume(columns.shape())) / ranks;
  const double others = part * (ranks - 1) / ranks;
  const bool near = on_one_node(problem.topology);
  const Taking taken = near ? Taking{part / ranks, others, 0, 0} : Taking{part / ranks, 0, others, ranks};
  int exchanges = 3;
  if (!same(problem.input.layout, stage.before) || problem.doubles) ++exchanges;
  if ((wanted && !same(*wanted, stage.after)) || problem.halves) ++exchanges;
  // Half of the transforms stand before each of the last two exchanges of the line.
  const int parts = parts_of_matrix(problem, columns, dtype, 0, rows).count;
  scheme.seconds = (exchanges - 2) * exchange_seconds(taken, problem) +
                   2 * exchange_seconds(taken, problem, compute_seconds(stage, problem) / 2, parts);
  scheme.moved_bytes = static_cast<std::int64_t>(exchanges * others);
}

// --- overlap

// What is not overlapped is the first part's transform and the last part's messages, so that more than a few
// parts gain little; but small ones are still in cache where they are packed. Hence few parts where that
// makes messages shorter than they would be, and many where it does not.
constexpr std::int64_t few_parts = 8;
constexpr std::int64_t most_parts = 64;
constexpr std::int64_t shortest_message = std::int64_t{256} << 10;
constexpr std::int64_t longest_message = std::int64_t{1} << 20;
// Where the caller bounds the scratch, messages are that much shorter than the bound anyway.
constexpr std::int64_t messages_in_scratch = 16;

std::int64_t parts_for(std::int64_t transfer, std::int64_t scratch_bytes) {
  const std::int64_t bound =
      scratch_bytes > 0 ? std::max<std::int64_t>(scratch_bytes / messages_in_scratch, 1) : longest_message;
  const std::int64_t few = std::min(few_parts, transfer / std::min(bound, shortest_message));
  return std::clamp(transfer / std::min(bound, longest_message), few, most_parts);
}

// A device transforms large parts as fast as the whole; their copies, or groups of messages, are long.
constexpr std::int64_t device_part = std::int64_t{16} << 20;
constexpr std::int64_t most_device_parts = 8;

/// The slowest axis in memory that is long enough, so that parts are contiguous; else the longest.
int axis_to_cut(const Region& own, const Extents& slowest_first, const std::vector<int>& axes,
                std::int64_t parts) {
  int longest = -1;
  std::int64_t most = 0;
  for (const std::int64_t axis : slowest_first) {
    if (contains(axes, axis)) continue;
    const std::int64_t extent = own.sets[static_cast<std::size_t>(axis)].size();
    if (extent >= parts) return static_cast<int>(axis);
    if (extent > most) {
      most = extent;
      longest = static_cast<int>(axis);
    }
  }
  return longest;
}

/// Seconds and bytes of a rank, from the formulae of the cost model: what it takes in each change of hands,
/// and what it computes.
class Prediction {
 public:
  Prediction(const Scheme& scheme, const Problem& problem)
      : scheme_(scheme), problem_(problem), from_(&problem.input.layout) {}

  /// To where its lines are whole, to be transformed there.
  void put(const Stage& stage) {
    const bool first = done_ == nullptr;
    change(stage.before, problem_.halves && !first ? problem_.dtype : problem_.input.dtype, true, &stage);
    computed_ = compute_seconds(stage, problem_);
    if (handed_over_) computed_ = seconds_behind_groups(handed_over_->price, computed_, handed_over_->shares);
    from_ = &stage.after;
    done_ = &stage;
  }
  void put_result(const Layout& wanted) {
    change(wanted, problem_.dtype, may_store_result(problem_), nullptr);
    if (!handed_over_ || problem_.reachable_output) return;
    seconds_ += static_cast<double>(wanted.largest_local_size() * size_of(problem_.dtype)) /
                    problem_.machine.copy_bandwidth +
                problem_.machine.copy_latency;
  }

  double seconds() const { return seconds_ + computed_; }
  double bytes() const { return bytes_; }

 private:
  struct HandedOver {
    HandOverPrice price;
    std::vector<double> shares;  // of groups
  };

  void change(const Layout& to, Dtype dtype, bool reachable, const Stage* next) {
    const std::optional<HandedOver> before = std::exchange(handed_over_, std::nullopt);
    const double computed = std::exchange(computed_, 0);
    if (same(*from_, to)) {
      seconds_ += computed;
      return;
    }
    const Taking taken = taking(*from_, to, problem_, static_cast<double>(size_of(dtype)));
    bytes_ += taken.node + taken.network;
    const int parts = done_ == nullptr ? 1 : parts_of(problem_, *from_, dtype, done_->axes, to).count;
    const std::optional<int> axis =
        scheme_.stores && done_ != nullptr && reachable ? stored_axis(problem_, *done_, to) : std::nullopt;
    // What arrives in groups is passed on in groups, and then arrives all at once.
    const bool in_groups = before && before->shares.size() > 1;
    if (!axis) return copy(to, taken, computed, in_groups ? nullptr : next, parts);
    const Groups groups =
        next != nullptr && !in_groups ? groups_of(problem_, *done_, *axis, *next) : Groups{};
    handed_over_ = HandedOver{store_price(taken, problem_), groups.shares()};
    const double others = compute_seconds(*done_, problem_, *axis);
    seconds_ += store_seconds(handed_over_->price, problem_, others,
                              done_->axes.size() == 1 ? 1 : parts_beside_stores(problem_, *done_, *axis, to),
                              handed_over_->shares.front());
  }

  void copy(const Layout& to, const Taking& taken, double computed, const Stage* next, int parts) {
    const bool may = done_ != nullptr && next != nullptr && same(next->before, to);
    const Groups groups = may ? copied_groups_of(problem_, *done_, *next) : Groups{};
    if (!groups.several()) {
      seconds_ += exchange_seconds(taken, problem_, computed, parts);
      return;
    }
    handed_over_ = HandedOver{copy_price(taken, problem_), groups.shares()};
    seconds_ += copied_seconds(handed_over_->price, problem_, computed, parts, handed_over_->shares.front(),
                               handed_over_->shares.size(), taken.givers);
  }

  const Scheme& scheme_;
  const Problem& problem_;
  const Layout* from_;
  const Stage* done_ = nullptr;
  double seconds_ = 0, bytes_ = 0;
  double computed_ = 0;                    // of what has not changed hands
  std::optional<HandedOver> handed_over_;  // by the last change of hands
};

void predict(Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  if (scheme.factors) return predict_four_step(scheme, problem, wanted);
  Prediction prediction(scheme, problem);
  for (const Stage& stage : scheme.stages) prediction.put(stage);
  // Inside a node the last stage stores its lines in the result, on whichever rank that is.
  const bool in_cache = through_peers(problem) && scheme.stages.size() > 1;
  if (wanted && !in_cache) prediction.put_result(*wanted);
  scheme.seconds = prediction.seconds();
  scheme.moved_bytes = static_cast<std::int64_t>(prediction.bytes());
}

// --- how arrays are exchanged

/// Half spectra of c64 have no whole words: with room in their rows two devices store them in a tenth more
/// time than they copy them, four in three quarters of it (docs/performance.md).
constexpr int ranks_that_store_parts_of_words = 3;

/// Whether something of the scheme can be stored by its owners' peers; unless that was asked for, only where
/// all of that is worth it.
bool may_store(const Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted) {
  if (scheme.factors) return false;
  const bool among_many = problem.halves && problem.topology.ranks() >= ranks_that_store_parts_of_words;
  bool some = false, all = true;
  const auto look = [&](const Stage& stage, const Layout& to) {
    if (!stored_axis(problem, stage, to)) return;
    some = true;
    all = all && (among_many || stores_whole_words(problem, stage, to));
  };
  for (std::size_t i = 0; i + 1 < scheme.stages.size(); ++i)
    look(scheme.stages[i], scheme.stages[i + 1].before);
  if (wanted && may_store_result(problem)) look(scheme.stages.back(), *wanted);
  return some && (all || problem.options.exchange == FftExchange::stores);
}

/// Those that store, in addition to those that copy or in their place, as the options say.
void add_stores(std::vector<Scheme>& schemes, const Problem& problem, const std::optional<Layout>& wanted) {
  const FftExchange asked = problem.options.exchange;
  const bool worth_a_look = asked == FftExchange::stores || problem.machine.store_bandwidth > 0;
  if (asked == FftExchange::copies || !worth_a_look) return;
  std::vector<Scheme> storing;
  for (const Scheme& scheme : schemes) {
    if (!may_store(scheme, problem, wanted)) continue;
    storing.push_back(scheme);
    storing.back().stores = true;
    storing.back().name += "+stores";
  }
  if (asked == FftExchange::stores && !storing.empty()) return schemes.swap(storing);
  schemes.insert(schemes.end(), storing.begin(), storing.end());
}

}  // namespace

Region region_before(const Stage& stage, Region after) {
  if (after.empty()) {
    for (IndexSet& set : after.sets) set = IndexSet::range(0, 0);
    return after;
  }
  for (const int axis : stage.axes) {
    after.sets[static_cast<std::size_t>(axis)] = IndexSet::range(0, stage.before.shape()[axis]);
  }
  return after;
}

bool on_one_node(const Topology& topology) {
  for (int rank = 1; rank < topology.ranks(); ++rank) {
    if (!topology.same_node(0, rank)) return false;
  }
  return true;
}

bool through_peers(const Problem& problem) {
  return on_one_node(problem.topology) && !problem.on_device();
}

// Judged by rank 0, which owns most.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to) {
  const Region own = from.region(0);
  if (own.empty() || through_peers(problem) || same(from, to)) return {};
  const std::int64_t bytes = own.size() * size_of(dtype);
  const auto takers = static_cast<std::int64_t>(to.cells(own).size());
  const bool are_large =
      (on_one_node(problem.topology) || problem.grouped) && problem.options.scratch_bytes == 0;
  const std::int64_t wanted =
      are_large ? std::clamp<std::int64_t>(bytes / device_part, 1, most_device_parts)
                : parts_for(bytes / std::max<std::int64_t>(takers, 1), problem.options.scratch_bytes);
  const int axis = axis_to_cut(own, problem.input.axis_order, axes, wanted);
  if (axis < 0) return {};
  const std::int64_t parts = std::min(wanted, own.sets[static_cast<std::size_t>(axis)].size());
  return parts < 2 ? redistribution::Parts{} : redistribution::Parts{axis, static_cast<int>(parts)};
}

Scheme choose(const Problem& problem, const std::optional<Layout>& wanted) {
  std::vector<Scheme> schemes = candidates(problem, wanted);
  const FftMethod method = problem.options.method;
  check(!schemes.empty(), "this transform of {} along axes ({}) cannot use the requested method",
        problem.input.layout.to_string(), fmt::join(problem.axes, ","));
  add_stores(schemes, problem, wanted);
  for (Scheme& scheme : schemes) predict(scheme, problem, wanted);
  const auto best = std::min_element(schemes.begin(), schemes.end(),
                                     [](const Scheme& a, const Scheme& b) { return a.seconds < b.seconds; });
  Scheme chosen = *best;
  chosen.reason = (method == FftMethod::automatic ? "predicted: " : "asked for; predicted: ") +
                  describe(chosen) + compared(schemes, chosen);
  return chosen;
}

}  // namespace partita::fourier
