#include "collectives/chain.hpp"

#include "redistribute/method.hpp"

namespace partita::collective {

bool Request::in_place(int number) const {
  const Operand& operand = operands[static_cast<std::size_t>(number)];
  return operand.residency == Residency::heap && operand.dense;
}

bool Request::pulls() const {
  const redistribution::Problem problem =
      redistribution::make_problem(operands[0], operands[1], topology, rank, redistribution());
  const redistribution::Method method = redistribution::choose_method(problem);
  return method.node_pairs && method.inside == RedistributeMethod::pulled;
}

RedistributeOptions Request::redistribution() const {
  RedistributeOptions options;
  if (grouped) options.method = RedistributeMethod::grouped;
  return options;
}

Chain::Chain(const Request& request, std::span<const char* const> names, std::string method,
             std::string reason)
    : redistribution_(request.redistribution()) {
  plan_.operation = request.operation;
  plan_.method = std::move(method);
  plan_.reason = std::move(reason);
  plan_.rank = request.rank;
  plan_.topology = request.topology;
  plan_.grouped = request.grouped;
  plan_.identity.assign(request.facts.begin(), request.facts.end());
  for (std::size_t i = 0; i < request.operands.size(); ++i) {
    builder_.add_operand(names[i], request.operands[i]);
  }
}

int Chain::add_array(const char* name, const Layout& layout, Dtype dtype) {
  Operand array = Operand::of(layout, dtype, Order::row_major, Residency::heap);
  array.space = builder_.operand(0).space;
  return builder_.add_array(name, array);
}

int Chain::add_bytes_of(int array, Dtype dtype) {
  const Buffer& whole = plan_.buffers[static_cast<std::size_t>(array)];
  plan_.buffers.push_back({whole.name + " by bytes", whole.kind, {}, whole.bytes, dtype, array});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

void Chain::copy_own(int from, int to) {
  Region own = builder_.operand(from).layout.region(plan_.rank);
  if (!own.empty()) builder_.copy(plan_.rank, std::move(own), builder_.own(from), builder_.own(to));
}

void Chain::redistribute(int from, int to) {
  builder_.append(plan_redistribute(builder_.operand(from), builder_.operand(to), plan_.topology, plan_.rank,
                                    redistribution_),
                  from, to);
}

Plan plan_single_redistribution(const Request& request) {
  constexpr const char* names[] = {"source", "destination"};
  Plan part = plan_redistribute(request.operands[0], request.operands[1], request.topology, request.rank,
                                request.redistribution());
  Chain chain(request, names, part.method, part.reason);
  chain.builder().append(std::move(part), 0, 1);
  return chain.take();
}

}  // namespace partita::collective
