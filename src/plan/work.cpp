#include "plan/work.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <tuple>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/describe.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

double size(const Part& part) {
  return static_cast<double>(part.region.size());
}

double extent(const Part& part, std::size_t dimension) {
  return static_cast<double>(part.region.sets[dimension].size());
}

/// Operations on real numbers; complex ones count in `complex_factor`.
struct Count {
  bool is_complex = false;

  double operator()(const Multiply& work) const {
    return (is_complex ? 8 : 2) * size(work.to) * static_cast<double>(planning::depth_of(work));
  }
  double operator()(const ApplyEpilogue& work) const {
    const bool transcendental = work.activation == Activation::gelu || work.activation == Activation::dgelu;
    return (transcendental ? 20 : 3) * size(work.to);
  }
  double operator()(const SumAlong& work) const { return (is_complex ? 2 : 1) * size(work.from); }
  double operator()(const TransformInto& work) const {
    const std::int64_t n = work.from.region.sets[static_cast<std::size_t>(work.axis)].size();
    const double last = 5 * size(work.from) * std::log2(static_cast<double>(std::max<std::int64_t>(2, n)));
    return last + (work.first ? (*this)(*work.first) : 0);
  }
  // 5 n log2 n a complex line, that is 5 log2 n an element and axis; half of it for real kinds.
  double operator()(const Transform& work) const {
    const bool full =
        work.kind == TransformKind::complex_forward || work.kind == TransformKind::complex_backward;
    const bool shrinks = work.kind == TransformKind::complex_to_real;
    const Region& region = shrinks ? work.to.region : work.from.region;
    double stages = 0;
    for (const std::int64_t axis : work.axes) {
      const std::int64_t n = region.sets[static_cast<std::size_t>(axis)].size();
      stages += std::log2(static_cast<double>(std::max<std::int64_t>(2, n)));
    }
    return (full ? 5 : 2.5) * static_cast<double>(region.size()) * stages;
  }
  double operator()(const Twiddle& work) const { return 8 * size(work.part); }
  // A complex multiply-add is four real ones. Golub and Van Loan (2013), sections 3.4, 4.2 and 5.2.
  double operator()(const FactorPanel& work) const {
    const double m = extent(work.panel, 0), n = extent(work.panel, 1), k = std::min(m, n);
    if (work.kind == Factorization::lu) return of_lu(m, n);
    const double multiplies = work.kind == Factorization::cholesky
                                  ? k * k * (m - k) + k * k * k / 3
                                  : 4 * m * n * k - 2 * (m + n) * k * k + 4 * k * k * k / 3;
    return (is_complex ? 4 : 1) * multiplies;
  }
  double of_lu(double m, double n) const {
    const double k = std::min(m, n);
    return (is_complex ? 4 : 1) * (2 * m * n * k - (m + n) * k * k + 2 * k * k * k / 3);
  }
  double operator()(const ExchangeRows& /*work*/) const { return 0; }
  double operator()(const PivotsOfRows& /*work*/) const { return 0; }
  double operator()(const MoveRows& /*work*/) const { return 0; }
  double operator()(const ChooseRows& work) const {
    return of_lu(extent(work.from, 0), extent(work.chosen, 1) - 2);
  }
  double operator()(const TriangularSolve& work) const {
    return (is_complex ? 4 : 1) * size(work.to) * extent(work.triangle, 0);
  }
  double operator()(const ApplyReflectors& work) const {
    const double m = extent(work.reflectors, 0), k = extent(work.reflectors, 1), n = extent(work.to, 1);
    return (is_complex ? 4 : 1) * (4 * m * k - 2 * k * k) * n;
  }
};

struct Describe {
  const Plan& plan;

  std::string text(const Part& part) const {
    return fmt::format("{} of {}", to_string(part.region), planning::describe(plan, part.place));
  }
  std::string operator()(const Multiply& work) const {
    const bool asked = work.compute != ComputeType::automatic;
    return fmt::format("multiply {} by {} {} {}{}{}", text(work.a), text(work.b),
                       work.beta == Beta::one ? "onto" : "into", text(work.to), asked ? " in " : "",
                       asked ? name(work.compute) : "");
  }
  std::string operator()(const ApplyEpilogue& work) const {
    const std::string added = work.has_c && work.beta == Beta::one ? " and " + text(work.c) : "";
    return fmt::format("epilogue of {}{} into {}", text(work.from), added, text(work.to));
  }
  std::string operator()(const SumAlong& work) const {
    return fmt::format("sums of {}{} along dimension {} onto {}", text(work.from),
                       work.conjugate ? " conjugated" : "", work.axis, text(work.to));
  }
  std::string operator()(const Transform& work) const {
    return fmt::format("transform axes {} of {} into {}{}", to_string(work.axes), text(work.from),
                       text(work.to), work.orthogonal ? ", orthogonal" : "");
  }
  std::string operator()(const TransformInto& work) const {
    std::string parts;
    for (const Part& part : work.to) parts += (parts.empty() ? "" : ", ") + text(part);
    std::string last = fmt::format("transform axis {} of {} into {}", work.axis, text(work.from), parts);
    if (!work.first) return last;
    return fmt::format("{}, {}", (*this)(*work.first), last);
  }
  std::string operator()(const Twiddle& work) const {
    return fmt::format("twiddle {} by the {}-th roots of unity", text(work.part), work.length);
  }
  std::string operator()(const FactorPanel& work) const {
    constexpr std::string_view names[]{"Cholesky", "LU", "QR"};
    return fmt::format("{} factorization of {}", names[static_cast<std::size_t>(work.kind)],
                       text(work.panel));
  }
  std::string operator()(const ExchangeRows& work) const {
    return fmt::format("exchange rows of {} by {}{}", text(work.to), text(work.pivots),
                       work.backward ? " backward" : "");
  }
  std::string operator()(const TriangularSolve& work) const {
    return fmt::format("solve {} {}{}{}, {}, by {}", text(work.to), work.from_right ? "from the right " : "",
                       work.upper ? "upper" : "lower", work.unit_diagonal ? " with unit diagonal" : "",
                       name(work.op), text(work.triangle));
  }
  std::string operator()(const ApplyReflectors& work) const {
    return fmt::format("apply the reflectors {}{} to {}", text(work.reflectors),
                       work.adjoint ? " adjoint" : "", text(work.to));
  }
  std::string operator()(const ChooseRows& work) const {
    return fmt::format("choose pivot rows of {} into {}", text(work.from), text(work.chosen));
  }
  std::string operator()(const PivotsOfRows& work) const {
    return fmt::format("pivots of the rows {} into {}", text(work.numbers), text(work.pivots));
  }
  std::string operator()(const MoveRows& work) const {
    return fmt::format("{} rows of {} that {} rows {} by {}", work.packs ? "pack" : "unpack",
                       text(work.matrix), work.packs ? "go to" : "come from", to_string(work.others),
                       text(work.pivots));
  }
};

Place target_of(const Work& work) {
  std::optional<Place> target;
  planning::for_each_part(work, [&](const Part& part, planning::Use use) {
    if (use != planning::Use::read && !target) target = part.place;
  });
  return *target;
}

}  // namespace

double flops(const Work& work, bool is_complex) {
  return std::visit(Count{is_complex}, work);
}

namespace planning {

LineEnds ends_before(TransformKind kind) {
  constexpr double root = std::numbers::sqrt2;
  if (kind == TransformKind::dct1) return {root, root};
  if (kind == TransformKind::dct3) return {root, 1};
  if (kind == TransformKind::dst3) return {1, root};
  return {};
}

LineEnds ends_after(TransformKind kind) {
  constexpr double root = std::numbers::sqrt2 / 2;
  if (kind == TransformKind::dct1) return {root, root};
  if (kind == TransformKind::dct2) return {root, 1};
  if (kind == TransformKind::dst2) return {1, root};
  return {};
}

std::int64_t depth_of(const Multiply& work) {
  const std::size_t dimensions = work.a.region.sets.size();
  return work.a.region.sets[dimensions - (work.transpose_a ? 2 : 1)].size();
}

const Work& work_of(const Plan& plan, const Step& step) {
  const auto index = static_cast<std::size_t>(step.work);
  check(step.work >= 0 && index < plan.works.size(), "a plan of {} works has no work {}", plan.works.size(),
        step.work);
  return plan.works[index];
}

std::vector<Part> parts_read_from_peers(const Plan& plan) {
  std::vector<Part> parts;
  std::set<std::tuple<int, int, std::int64_t, std::string>> seen;
  const auto add = [&](const Part& part, Use use) {
    const Place& place = part.place;
    if (use == Use::written || place.rank == plan.rank) return;
    if (seen.emplace(place.buffer, place.rank, place.offset, to_string(part.region)).second) {
      parts.push_back(part);
    }
  };
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::compute) for_each_part(work_of(plan, step), add);
  }
  return parts;
}

std::int64_t bytes_written_to_peers(const Plan& plan, const Work& work) {
  std::int64_t bytes = 0;
  for_each_part(work, [&](const Part& part, Use use) {
    if (use == Use::read || part.place.rank == plan.rank) return;
    bytes += part.region.size() * size_of(dtype_at(plan, part.place));
  });
  return bytes;
}

PutToPeers put_to_peers(const Plan& plan) {
  PutToPeers result;
  for (std::size_t i = 0; i < plan.works.size(); ++i) {
    const Work& work = plan.works[i];
    const auto* const into = std::get_if<TransformInto>(&work);
    if (into == nullptr) continue;
    const std::int64_t bytes = into->from.region.size() * size_of(dtype_at(plan, into->from.place));
    if (bytes == 0) continue;
    const auto put = static_cast<double>(bytes_written_to_peers(plan, work));
    result.share = std::max(result.share, put / static_cast<double>(bytes));
    result.last = static_cast<int>(i);
  }
  return result;
}

std::string describe_work(const Plan& plan, const Step& step) {
  return std::visit(Describe{plan}, work_of(plan, step));
}

Dtype dtype_at(const Plan& plan, const Place& place) {
  const Buffer& buffer = buffer_of(plan, place);
  if (buffer.operand) return buffer.operand->dtype;
  if (buffer.dtype) return *buffer.dtype;
  for (const Buffer& other : plan.buffers) {
    if (other.operand) return other.operand->dtype;
  }
  return Dtype::u8;
}

namespace {

/// Bytes that a work moves between memory and cores where caches hold nothing from before.
struct Passed {
  double read = 0;
  double written = 0;
};

/// In each column the first rows, which are adjacent, and a line of the cache for each row that is exchanged
/// with one of them; no more than the whole column.
Passed passed(const Plan& plan, const ExchangeRows& work) {
  constexpr double cache_line = 64;
  const auto item = static_cast<double>(size_of(dtype_at(plan, work.to.place)));
  const double column = std::min(size(work.pivots) * (item + cache_line), extent(work.to, 0) * item);
  return {extent(work.to, 1) * column, extent(work.to, 1) * column};
}

/// Of each row that is expected, a line of the cache in each column.
Passed passed(const Plan& plan, const MoveRows& work) {
  constexpr double cache_line = 64;
  const double rows = work.expected * extent(work.matrix, 1);
  const double bytes = rows * static_cast<double>(size_of(dtype_at(plan, work.matrix.place)));
  if (work.packs) return {rows * cache_line, bytes};
  return {bytes + rows * cache_line, rows * cache_line};
}

/// Each part once; a transform passes over its array once per axis. Products that fit no cache read their
/// factors more often, but then they compute for longer than that takes.
Passed passed(const Plan& plan, const Work& work) {
  Passed bytes;
  for_each_part(work, [&](const Part& part, Use use) {
    const double once = size(part) * static_cast<double>(size_of(dtype_at(plan, part.place)));
    if (use != Use::written) bytes.read += once;
    if (use != Use::read) bytes.written += once;
  });
  if (const auto* const transform = std::get_if<Transform>(&work)) {
    const auto passes = static_cast<double>(std::max(1, transform->axes.size()));
    bytes.read *= passes;
    bytes.written *= passes;
  }
  if (const auto* const exchange = std::get_if<ExchangeRows>(&work)) return passed(plan, *exchange);
  if (const auto* const moves = std::get_if<MoveRows>(&work)) return passed(plan, *moves);
  return bytes;
}

bool on_device(const Plan& plan) {
  return std::ranges::any_of(plan.buffers, [](const Buffer& buffer) {
    return buffer.operand && buffer.operand->space == MemorySpace::device;
  });
}

/// A copy reads and writes each byte. A device's memory, which is its own, does as much of either alone as of
/// both together; cores share theirs, and wait for what they read while what they write is on its way.
double passing_seconds(const Plan& plan, const Work& work, const Machine& machine) {
  const auto [read, written] = passed(plan, work);
  if (on_device(plan)) return (read + written) / (2 * machine.copy_bandwidth);
  return std::max(read, written) /
         std::min(machine.copy_bandwidth,
                  machine.node_copy_bandwidth / ranks_on_node(plan.topology, plan.rank));
}

/// The share of the rate of products that a factorization of a panel of 64 to 256 columns reaches: an
/// estimate.
constexpr double panel_share = 0.5;

/// Operations a second.
double rate_of(const Plan& plan, const Work& work, const Machine& machine) {
  if (const auto* const product = std::get_if<Multiply>(&work))
    return machine.product_flops(dtype_at(plan, product->a.place));
  const double products = machine.product_flops(dtype_at(plan, target_of(work)));
  if (std::holds_alternative<FactorPanel>(work) || std::holds_alternative<ChooseRows>(work))
    return panel_share * products;
  if (std::holds_alternative<TriangularSolve>(work) || std::holds_alternative<ApplyReflectors>(work))
    return products;
  const bool transforms =
      std::holds_alternative<Transform>(work) || std::holds_alternative<TransformInto>(work);
  return transforms ? transform_flops(machine, dtype_at(plan, target_of(work))) : machine.flops;
}

}  // namespace

std::complex<double> beta_of(Beta beta, const Parameters& parameters) {
  if (beta == Beta::given) return parameters.beta;
  return beta == Beta::one ? 1 : 0;
}

double compute_seconds(const Plan& plan, const Step& step, const Machine& machine) {
  const Work& work = work_of(plan, step);
  const bool complex_items = is_complex(dtype_at(plan, target_of(work)));
  const double stores = machine.store_bandwidth > 0 ? machine.store_bandwidth : machine.peer_bandwidth;
  const double stored = static_cast<double>(bytes_written_to_peers(plan, work)) / stores;
  return machine.copy_latency + std::max({flops(work, complex_items) / rate_of(plan, work, machine),
                                          passing_seconds(plan, work, machine), stored});
}

}  // namespace planning
}  // namespace partita
