// Redistribution of any distribution into any other: one planner for all pairs.
//
// Rank p owns S(p) of the source, rank q wants D(q) of the destination, both products of index sets in the
// source's index space. Then p gives q exactly
//
//     S(p) ∩ D(q) = (S_0(p) ∩ D_0(q)) x (S_1(p) ∩ D_1(q)) x ...
//
// the product of the intersections along each dimension (`exchange`). How it gets there is a matter of where
// the two sit and of what memory they use (`choose_method`); in which order, of keys that both ends know
// (`schedule`); and planning::TransferWriter writes the steps.
#include "redistribute/parts.hpp"
#include "redistribute/rounds.hpp"
#include "redistribute/schedule.hpp"

namespace partita {

namespace {

using namespace redistribution;

// The same list on every rank, with fixed numbers: shared staging of no bytes stands before private staging
// where only that is used.
void add_buffers(planning::PlanBuilder& builder, const Problem& problem, std::int64_t shared_bytes,
                 std::int64_t private_bytes) {
  builder.add_operand("source", problem.source);
  builder.add_operand("destination", problem.destination);
  if (shared_bytes > 0 || private_bytes > 0) builder.add_scratch("staging", BufferKind::shared, shared_bytes);
  if (private_bytes > 0) builder.add_scratch("messages", BufferKind::scratch, private_bytes);
}

planning::TransferScratch scratch_of(const Problem& problem, const Staging& staging) {
  planning::TransferScratch scratch{problem.source.axis_order, problem.item_bytes()};
  scratch.ring = shared_buffer;
  scratch.slots = staging.chunk == 0 ? 0 : staging.shared_bytes / staging.chunk;
  scratch.slot_bytes = staging.chunk;
  scratch.messages = private_buffer;
  scratch.send_bytes = scratch.receive_bytes = staging.window;
  return scratch;
}

/// Gives the steps at which the parts begin.
std::vector<int> write_parts(const Problem& problem, const Method& method, const Staging& staging,
                             const Exchange& whole, const std::vector<Exchange>& parts,
                             planning::PlanBuilder& builder) {
  std::vector<std::vector<planning::Transfer>> lists = schedule(problem, method, staging, parts);
  planning::TransferWriter writer(builder, scratch_of(problem, staging),
                                  {.posts_ahead = true, .in_order = problem.accumulates});
  for (auto& list : lists) writer.expect(list);
  const auto is_pushed_by = [&](int giver) {
    return giver != problem.rank && method.between(problem, giver) == RedistributeMethod::pushed;
  };
  for (const Overlap& overlap : whole.incoming) {
    if (is_pushed_by(overlap.peer)) writer.puts().grant(overlap.peer);
  }
  writer.post_ahead();
  std::vector<int> begins;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    begins.push_back(static_cast<int>(builder.plan().steps.size()));
    for (const Overlap& overlap : parts[i].outgoing) {
      if (Method::reads(method.between(problem, overlap.peer))) writer.offer(overlap.peer);
    }
    for (const Overlap& overlap : parts[i].incoming) {
      if (is_pushed_by(overlap.peer)) writer.puts().expect(overlap.peer);
    }
    fill_identity(problem, parts[i], builder);
    writer.write(std::move(lists[i]));
  }
  writer.close();
  return begins;
}

}  // namespace

namespace redistribution {

PlanInParts plan_in_parts(const Operand& source, const Operand& destination, const Topology& topology,
                          int rank, const RedistributeOptions& options, const Parts& parts) {
  const Problem problem = make_problem(source, destination, topology, rank, options);
  const Method method = choose_method(problem);
  const Exchange whole = exchange(problem);
  Plan plan{"redistribute", method.name, method.reason, rank, topology, {}, {}};
  planning::PlanBuilder builder(plan);
  if (method.is_grouped()) {
    plan.grouped = true;
    const std::vector<Exchange> exchanges = in_parts(whole, problem, parts);
    const Rounds rounds = choose_rounds(problem, exchanges.size());
    add_buffers(builder, problem, 0, rounds.private_bytes());
    std::vector<int> begins = write_rounds(problem, rounds, exchanges, builder);
    return {std::move(plan), std::move(begins)};
  }
  const Staging staging = choose_staging(problem, method);
  add_buffers(builder, problem, staging.shared_bytes, staging.private_bytes);
  std::vector<int> begins =
      write_parts(problem, method, staging, whole, in_parts(whole, problem, parts), builder);
  return {std::move(plan), std::move(begins)};
}

}  // namespace redistribution

Plan plan_redistribute(const Operand& source, const Operand& destination, const Topology& topology, int rank,
                       const RedistributeOptions& options) {
  Plan plan = redistribution::plan_in_parts(source, destination, topology, rank, options, {}).plan;
  plan.identity = redistribution::facts(source, destination, options);
  return plan;
}

std::string explain_redistribute(const Layout& source, const Distribution& destination, Dtype dtype,
                                 const RedistributeOptions& options) {
  const std::vector<int> inverse = inverse_axes(options.axes, source.dimensions());
  Shape shape = source.shape();
  for (int i = 0; i < shape.size(); ++i) shape[inverse[static_cast<std::size_t>(i)]] = source.shape()[i];
  const Operand from = Operand::of(source, dtype, Order::row_major, Residency::heap);
  const Operand to =
      Operand::of(Layout(destination, shape, source.ranks()), dtype, options.order, Residency::heap);
  const Topology topology = Topology::regular(source.ranks());
  const Planner planner = [&](int rank) { return plan_redistribute(from, to, topology, rank, options); };
  return explain(planner(0), {}, planner);
}

}  // namespace partita
