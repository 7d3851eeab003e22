// Plans that solve with factors: right-hand sides are distributed by columns, and every rank applies all
// panels to its own.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <partita/redistribute.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/round.hpp"
#include "linalg/facts.hpp"
#include "linalg/grid_plans.hpp"
#include "linalg/panel_transport.hpp"

namespace partita::linear {
namespace {

/// Right-hand sides that pass instead of panels.
constexpr std::int64_t most_passed = 16;

class SolvePlanner {
 public:
  SolvePlanner(std::string_view operation, const std::vector<Pass>& passes, const Operand& b,
               const Operand& x, const Topology& topology, int rank, const Machine& machine)
      : passes_(passes), b_(b), x_(x), machine_(machine) {
    plan_.operation = operation;
    plan_.rank = rank;
    plan_.topology = topology;
  }

  PlannedPasses make(Factorization kind, const Operand& a, MemorySpace factorized_in,
                     const FactorOptions& options, bool in_place) {
    buffers_.panels = panels_of(kind, a, options, plan_.topology, machine_);
    at_once_ = exchanges_left(panels(), factorized_in);
    staging_ = staging_within(options.memory_limit, 2, panels().ranks);
    plan_.identity = {{"A", a.to_string()},
                      {"B", b_.to_string()},
                      {"X", x_.to_string()},
                      {"passes", to_string(passes_)},
                      {"options", fmt::format("{} {}{}", factorization_name(kind),
                                              linear::to_string(panels()), in_place ? " in place" : "")}};
    buffers_.dtype = a.dtype;
    buffers_.space = a.space;
    buffers_.factor = builder_.add_operand("factors", factor_operand(panels(), a.dtype, a.space));
    buffers_.pivots = builder_.add_operand("pivots", pivots_operand(kind, panels(), a.dtype, a.space));
    const int b_buffer = builder_.add_operand("B", b_);
    const int x_buffer = builder_.add_operand("X", x_);
    const int x_at = in_place ? b_buffer : x_buffer;
    if (panels().on_grid()) {
      plan_.method = "grid";
      pass_on_grid(b_buffer, x_at);
      return {std::move(plan_), {}};
    }
    if (sums_pass()) {
      plan_.method = "sums";
      pass_on_grid(b_buffer, x_at);
      return {std::move(plan_), std::move(steps_)};
    }
    height_ = std::max({panels().rows, b_.layout.shape()[0], x_.layout.shape()[0]});
    list_turns();
    if (sides_pass()) {
      pass_sides(b_buffer, x_at);
    } else {
      pass_panels(b_buffer, x_at);
    }
    return {std::move(plan_), {}};
  }

 private:
  const Panels& panels() const { return buffers_.panels; }
  std::int64_t count() const { return b_.layout.shape()[1]; }
  Place sides() const { return builder_.own(sides_); }
  Part rows(const IndexSet& rows) const { return {{{rows, mine_}}, sides()}; }

  struct Turn {
    const Pass* pass = nullptr;
    int panel = 0;
  };

  void list_turns() {
    for (const Pass& pass : passes_) {
      for (int i = 0; i < panels().count(); ++i)
        turns_.push_back({&pass, pass.forward() ? i : panels().count() - 1 - i});
    }
  }

  // --- arrays of right-hand sides, which may have more rows than B or X

  using LayoutOf = std::function<Layout(std::int64_t rows)>;

  Operand operand_of(const Layout& layout) const { return on_heap(layout, buffers_.dtype, buffers_.space); }

  /// The array of that layout for this many rows: `sides` if it has as many, otherwise an additional one.
  int part_of(int sides, std::string name, std::int64_t rows, const LayoutOf& layout) {
    return rows == height_ ? sides : builder_.add_array(std::move(name), operand_of(layout(rows)));
  }

  void load(int b, int sides, const LayoutOf& layout) {
    const std::int64_t rows = b_.layout.shape()[0];
    const int part = part_of(sides, "B in parts", rows, layout);
    append_redistribution(builder_, b, part, staging_);
    const Region own = builder_.operand(part).layout.region(plan_.rank);
    const Region all = builder_.operand(sides).layout.region(plan_.rank);
    if (part == sides || all.empty()) return;
    if (!own.empty()) builder_.copy(plan_.rank, own, builder_.own(part), builder_.own(sides));
    const IndexSet missing = IndexSet::range(rows, height_);
    builder_.fill(Reduction::sum, {{missing, all.sets[1]}}, builder_.own(sides));
  }

  void store(int sides, int x, const LayoutOf& layout) {
    const std::int64_t rows = x_.layout.shape()[0];
    const int part = part_of(sides, "X in parts", rows, layout);
    const Region own = builder_.operand(part).layout.region(plan_.rank);
    if (part != sides && !own.empty())
      builder_.copy(plan_.rank, own, builder_.own(sides), builder_.own(part));
    append_redistribution(builder_, part, x, staging_);
  }

  // --- on a grid

  bool exchanges_before() const { return at_once_ && passes_.front().exchanges && passes_.front().forward(); }
  bool exchanges_after() const { return at_once_ && passes_.back().exchanges && !passes_.back().forward(); }

  // Whole rows of more right-hand sides would take more memory than the factors.
  void pass_on_grid(int b, int x) {
    const int largest = std::max(panels().grid_rows, panels().grid_columns());
    const bool many = panels().on_grid() && count() > panels().rows / largest;
    plan_.reason = fmt::format("{} right-hand sides {} {}", count(),
                               many ? "are distributed as" : "pass through", linear::to_string(panels()));
    const bool before = exchanges_before(), after = exchanges_after();
    const int whole = before || after ? add_whole_columns() : -1;
    if (before) append_redistribution(builder_, b, whole);
    const std::size_t first = plan_.steps.size();
    if (before) exchange_all_rows(false);
    if (many) {
      solve_many_on_grid(buffers_, passes_, before ? whole : b, after ? whole : x, builder_);
    } else {
      planning::SolveSteps steps =
          solve_on_grid(buffers_, passes_, before ? whole : b, after ? whole : x, builder_);
      if (before) steps.first = first;
      if (before || after) {
        steps.whole = whole;
        steps.pivots = buffers_.pivots;
      }
      offer(std::move(steps));
    }
    const std::size_t solved = plan_.steps.size();
    if (after) exchange_all_rows(true);
    if (steps_ && after) {
      steps_->after = solved;
      steps_->behind_after = plan_.steps.size();
    }
    if (after) append_redistribution(builder_, whole, x);
  }

  /// The same on every rank of a node.
  void offer(planning::SolveSteps steps) {
    if (panels().on_grid() || buffers_.space != MemorySpace::device || plan_.topology.node_count() > 1 ||
        panels().width % planning::SolveSteps::rows_at_once != 0)
      return;
    const std::int64_t bytes =
        planning::SolveSteps::bytes(buffers_.dtype, panels().rows, count(), panels().ranks);
    steps.words = builder_.add_scratch("words of peers", BufferKind::shared,
                                       bytes * static_cast<std::int64_t>(passes_.size()), buffers_.dtype);
    if (steps.pivots >= 0)
      steps.moves = builder_.add_scratch("moves of rows", BufferKind::scratch,
                                         planning::SolveSteps::bytes_of_moves(panels().rows));
    for (const Pass& pass : passes_)
      steps.passes.push_back({pass.op, pass.kind == Pass::Kind::upper, pass.unit_diagonal});
    steps.factors = buffers_.factor;
    steps.n = panels().rows;
    steps.columns = count();
    steps.width = panels().width;
    steps.ranks = panels().ranks;
    steps_ = std::move(steps);
  }

  /// The right-hand sides by whole columns: on a grid each on one rank, otherwise all on every rank, which
  /// then has what it needs without another redistribution.
  int add_whole_columns() {
    const Layout layout = panels().on_grid() ? by_columns(panels().rows)
                                             : Layout(Replicated(), {panels().rows, count()}, panels().ranks);
    sides_ = builder_.add_array("whole right-hand sides", operand_of(layout));
    mine_ = layout.region(plan_.rank).sets[1];
    return sides_;
  }

  /// By the pivots of all panels, in their order or `backward`.
  void exchange_all_rows(bool backward) {
    for (int i = 0; i < panels().count() && !mine_.empty(); ++i)
      exchange_rows(backward ? panels().count() - 1 - i : i, backward);
  }

  // --- panels pass

  Layout by_columns(std::int64_t rows) const {
    const int ranks = panels().ranks;
    const std::int64_t width = std::max<std::int64_t>(1, ceil_divide(count(), ranks));
    return {BlockCyclic({1, ranks}, {std::max<std::int64_t>(rows, 1), width}), {rows, count()}, ranks};
  }

  void pass_panels(int b, int x) {
    const int ranks = panels().ranks;
    const LayoutOf layout = [this](std::int64_t rows) { return by_columns(rows); };
    plan_.method = "right-hand sides";
    plan_.reason =
        fmt::format("{} right-hand sides over {} ranks, each of which reads {} panels of {} columns", count(),
                    ranks, panels().count(), panels().width);
    sides_ = builder_.add_array("right-hand sides", operand_of(by_columns(height_)));
    mine_ = builder_.operand(sides_).layout.region(plan_.rank).sets[1];
    load(b, sides_, layout);
    if (exchanges_before()) exchange_all_rows(false);
    take_panels();
    if (exchanges_after()) exchange_all_rows(true);
    store(sides_, x, layout);
  }

  /// By the ranks that have right-hand sides.
  void take_panels() {
    std::vector<PanelTurn> turns;
    for (const auto& [pass, k] : turns_) turns.push_back({k, pass->rows(panels(), k)});
    const auto readers = static_cast<int>(std::min<std::int64_t>(count(), panels().ranks));
    PanelTransport transport(buffers_, builder_, std::move(turns), PanelTransport::Readiness::from_start,
                             readers);
    transport.open();
    if (!transport.reads()) {
      for (int turn = 0; turn < static_cast<int>(turns_.size()); ++turn) {
        if (transport.announces(turn)) transport.announce(turn);
      }
      return transport.close();
    }
    if (transport.announces(0)) transport.announce(0);
    for (int turn = 0; turn < static_cast<int>(turns_.size()); ++turn) {
      const FoundPanel panel = transport.take(turn);
      if (transport.announces(turn + 1)) transport.announce(turn + 1);
      const auto& [pass, k] = turns_[static_cast<std::size_t>(turn)];
      if (!mine_.empty()) apply(*pass, k, panel);
      transport.release(turn);
    }
    transport.close();
  }

  /// Few right-hand sides of triangles, which do not move between the devices: sums do.
  bool sums_pass() const {
    const auto is_triangle = [this](const Pass& pass) {
      return pass.kind != Pass::Kind::reflectors && (at_once_ || !pass.exchanges);
    };
    return count() > 0 && count() <= most_passed && panels().ranks > 1 && panels().rows == panels().columns &&
           panels().rows > 0 && buffers_.space == MemorySpace::device &&
           std::ranges::all_of(passes_, is_triangle);
  }

  // --- right-hand sides pass

  /// A panel of w columns between nodes takes as long as r right-hand sides passed r/w times; what is lost is
  /// that one rank computes at a time. The host reads panels of the same node in place. Devices of a node
  /// copy panels while they compute:
  ///
  ///     compute   the starts of a turn's kernels, and one read of the factors
  ///     panels    the longer of compute and copies of what other ranks own
  ///     sides     compute, then at each change of the owner a copy and three signals
  bool sides_pass() const {
    if (count() > most_passed || turns_.empty() || panels().ranks == 1) return false;
    if (plan_.topology.node_count() > 1) return true;
    if (buffers_.space == MemorySpace::host) return false;
    constexpr int starts = 5;
    double bytes = 0, of_others = 0;
    int changes = 0;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const auto& [pass, k] = turns_[i];
      const std::int64_t read = pass->rows(panels(), k).size() * panels().diagonal(k).size();
      bytes += static_cast<double>(read * buffers_.item());
      if (panels().owner(k) != 0) of_others += static_cast<double>(read * buffers_.item());
      if (i > 0 && panels().owner(k) != panels().owner(turns_[i - 1].panel)) ++changes;
    }
    const double compute = static_cast<double>(turns_.size()) * starts * machine_.copy_latency +
                           bytes / (2 * machine_.copy_bandwidth);
    return compute + changes * (machine_.copy_latency + 3 * machine_.signal_latency) <
           std::max(compute, of_others / machine_.peer_bandwidth);
  }

  LayoutOf on_rank(int rank) const {
    return [this, rank](std::int64_t rows) {
      return Layout(Slab(0), {rows, count()}, 1).embedded(std::array{rank}, panels().ranks);
    };
  }

  void pass_sides(int b, int x) {
    plan_.method = "panels";
    plan_.reason = fmt::format("{} right-hand sides pass through the owners of {} panels of {} columns",
                               count(), panels().count(), panels().width);
    const Layout everywhere(Replicated(), {height_, count()}, panels().ranks);
    sides_ = builder_.add_array("right-hand sides", operand_of(everywhere));
    std::map<int, int> on;  // by rank: the array as it is there
    const auto at = [&](int rank) {
      const auto [found, is_new] = on.try_emplace(rank, -1);
      if (is_new) found->second = builder_.add_view(sides_, operand_of(on_rank(rank)(height_)));
      return found->second;
    };
    mine_ = IndexSet::range(0, count());
    int owner = panels().owner(turns_.front().panel);
    load(b, at(owner), on_rank(owner));
    for (const auto& [pass, k] : turns_) {
      const int next = panels().owner(k);
      if (next != owner) append_redistribution(builder_, at(owner), at(next));
      owner = next;
      if (owner == plan_.rank) apply(*pass, k, FoundPanel(builder_.own(buffers_.factor)));
    }
    store(at(owner), x, on_rank(owner));
  }

  // --- one panel

  void apply(const Pass& pass, int k, const FoundPanel& panel) {
    if (pass.kind == Pass::Kind::reflectors) return apply_reflectors(pass, k, panel);
    if (!at_once_ && pass.exchanges && pass.forward()) exchange_rows(k, false);
    const IndexSet diagonal = panels().diagonal(k);
    const IndexSet others = pass.kind == Pass::Kind::upper ? panels().rows_above(k) : panels().rows_below(k);
    const auto solve = [&] { builder_.compute(pass.solve(panel.part(diagonal, diagonal), rows(diagonal))); };
    if (!pass.transposes()) solve();
    if (!others.empty()) {
      Part from = rows(diagonal), to = rows(others);
      if (pass.transposes()) std::swap(from, to);
      builder_.compute(pass.subtract(panel.part(others, diagonal), from, to));
    }
    if (pass.transposes()) solve();
    if (!at_once_ && pass.exchanges && !pass.forward()) exchange_rows(k, true);
  }

  void apply_reflectors(const Pass& pass, int k, const FoundPanel& panel) {
    ApplyReflectors work;
    work.reflectors = panel.part(panels().rows_from(k), panels().diagonal(k));
    work.factors = {buffers_.pivots_of(k), builder_.own(buffers_.pivots)};
    work.to = rows(IndexSet::range(panels().first(k), panels().rows));
    work.adjoint = pass.transposes();
    builder_.compute(work);
  }

  void exchange_rows(int k, bool backward) {
    builder_.compute(ExchangeRows{
        rows(panels().rows_from(k)), {buffers_.pivots_of(k), builder_.own(buffers_.pivots)}, backward});
  }

  const std::vector<Pass>& passes_;
  Operand b_, x_;
  const Machine& machine_;
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  FactorBuffers buffers_;
  std::vector<Turn> turns_;
  bool at_once_ = false;  // the exchanges of all panels come before, or behind, what is solved for
  std::optional<planning::SolveSteps> steps_;
  std::int64_t height_ = 0;  // of the right-hand sides
  int sides_ = -1;
  std::int64_t staging_ = 0;  // of a redistribution; 0: chosen
  IndexSet mine_;             // right-hand sides of this rank
};

}  // namespace

void append_redistribution(planning::PlanBuilder& builder, int from, int to, std::int64_t staging) {
  const Operand source = builder.operand(from), destination = builder.operand(to);
  builder.append(plan_redistribute(source, destination, builder.plan().topology, builder.rank(),
                                   {.staging_bytes = staging}),
                 from, to);
}

PlannedPasses plan_passes(std::string_view operation, const std::vector<Pass>& passes, Factorization kind,
                          const Operand& a, const Operand& b, const Operand& x, const Topology& topology,
                          int rank, const FactorOptions& options, const Machine& machine, bool in_place,
                          MemorySpace factorized_in) {
  PlannedPasses planned = SolvePlanner(operation, passes, b, x, topology, rank, machine)
                              .make(kind, a, factorized_in, options, in_place);
  check_memory(planned.plan, options.memory_limit);
  return planned;
}

}  // namespace partita::linear

namespace partita {

Plan plan_solve(Factorization kind, const Operand& a, const Operand& b, const Operand& x,
                const Topology& topology, int rank, Op op, const FactorOptions& options, bool in_place,
                const Machine& machine) {
  linear::check_factorized(kind, a);
  linear::check_sides(kind, a, b, x, op);
  return linear::plan_passes("solve", linear::passes_of(kind, op, a.dtype), kind, a, b, x, topology, rank,
                             options, machine, in_place, a.space)
      .plan;
}

}  // namespace partita
