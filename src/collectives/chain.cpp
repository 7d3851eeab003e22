#include "collectives/chain.hpp"

#include <partita/redistribute.hpp>

#include "plan/append.hpp"
#include "plan/steps.hpp"

namespace partita::collective {

bool Request::in_place(int number) const {
  const Operand& operand = operands[static_cast<std::size_t>(number)];
  return operand.residency == Residency::heap && operand.dense;
}

Chain::Chain(const Request& request, std::span<const char* const> names, std::string method,
             std::string reason) {
  plan_.operation = request.operation;
  plan_.method = std::move(method);
  plan_.reason = std::move(reason);
  plan_.rank = request.rank;
  plan_.topology = request.topology;
  plan_.identity.assign(request.facts.begin(), request.facts.end());
  for (std::size_t i = 0; i < request.operands.size(); ++i) {
    plan_.buffers.push_back({names[i], BufferKind::operand, request.operands[i], 0});
  }
}

const Operand& Chain::operand(int buffer) const {
  return *plan_.buffers[static_cast<std::size_t>(buffer)].operand;
}

int Chain::add_array(const char* name, const Layout& layout, Dtype dtype) {
  Operand array = Operand::of(layout, dtype, Order::row_major, Residency::heap);
  array.space = operand(0).space;
  plan_.buffers.push_back(
      {name, BufferKind::shared, std::move(array), layout.largest_local_size() * size_of(dtype)});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

int Chain::add_bytes_of(int array, Dtype dtype) {
  const Buffer& whole = plan_.buffers[static_cast<std::size_t>(array)];
  plan_.buffers.push_back({whole.name + " by bytes", whole.kind, {}, whole.bytes, dtype, array});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

int Chain::add_scratch(const char* name, BufferKind kind, std::int64_t bytes) {
  plan_.buffers.push_back({name, kind, {}, bytes});
  return static_cast<int>(plan_.buffers.size()) - 1;
}

void Chain::copy_own(int from, int to) {
  const int rank = plan_.rank;
  Region own = operand(from).layout.region(rank);
  if (own.empty()) return;
  push(plan_.steps, copy_step(rank, std::move(own), {from, rank, 0, {}}, {to, rank, 0, {}}));
}

void Chain::redistribute(int from, int to) {
  append(from, to, plan_redistribute(operand(from), operand(to), plan_.topology, plan_.rank));
}

void Chain::append(int from, int to, Plan part) {
  std::vector<int> numbers{from, to};
  for (std::size_t b = 2; b < part.buffers.size(); ++b) {
    numbers.push_back(add_or_share(plan_, part.buffers[b]));
  }
  partita::append(plan_, std::move(part), numbers);
}

}  // namespace partita::collective
