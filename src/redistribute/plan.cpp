// Redistribution of any distribution into any other: one planner for all pairs.
//
// Rank p owns S(p) of the source, rank q wants D(q) of the destination, both products of index sets in the
// source's index space. Then p gives q exactly
//
//     S(p) ∩ D(q) = (S_0(p) ∩ D_0(q)) x (S_1(p) ∩ D_1(q)) x ...
//
// the product of the intersections along each dimension (`exchange`). How it gets there is a matter of where
// the two sit and of what memory they use (`choose_method`); in which order, of keys that both ends know
// (`schedule`); and `Walk` writes the steps.
#include "redistribute/parts.hpp"
#include "redistribute/walk.hpp"

namespace partita {

namespace {

using namespace redistribution;

Buffer operand_buffer(const char* name, const Operand& operand) {
  return {name, BufferKind::operand, operand, 0};
}

// The same list on every rank, with fixed numbers: shared staging of no bytes stands before private staging
// where only that is used.
std::vector<Buffer> buffers(const Problem& problem, const Staging& staging) {
  std::vector<Buffer> result{operand_buffer("source", problem.source),
                             operand_buffer("destination", problem.destination)};
  if (staging.shared_bytes > 0 || staging.private_bytes > 0) {
    result.push_back({"staging", BufferKind::shared, {}, staging.shared_bytes});
  }
  if (staging.private_bytes > 0) {
    result.push_back({"messages", BufferKind::scratch, {}, staging.private_bytes});
  }
  return result;
}

}  // namespace

namespace redistribution {

PlanInParts plan_in_parts(const Operand& source, const Operand& destination, const Topology& topology,
                          int rank, const RedistributeOptions& options, const Parts& parts) {
  const Problem problem = make_problem(source, destination, topology, rank, options);
  const Method method = choose_method(problem);
  const Staging staging = choose_staging(problem, method);
  const Exchange whole = exchange(problem);
  Plan plan{"redistribute", method.name, method.reason, rank, topology, buffers(problem, staging), {}};
  Walk walk(problem, method, staging, plan.steps);
  std::vector<int> begins = walk.run(whole, in_parts(whole, problem, parts));
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
