// Scratch of a multiply: which there is, and how much.
#include <algorithm>

#include "base/check.hpp"
#include "matmul/assembly.hpp"
#include "matmul/walk.hpp"
#include "plan/append.hpp"

namespace partita::multiplication {
namespace {

std::int64_t largest_node(const Topology& topology) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(topology.ranks()));
  std::int64_t most = 0;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    most = std::max(most, ++ranks[static_cast<std::size_t>(topology.node(rank))]);
  }
  return most;
}

bool covers(const Region& held, const Region& needed) {
  if (needed.empty()) return true;
  if (held.empty()) return false;
  for (std::size_t i = 0; i < needed.sets.size(); ++i) {
    if (held.sets[i] == needed.sets[i]) continue;
    if (intersect(held.sets[i], needed.sets[i]).size() != needed.sets[i].size()) return false;
  }
  return true;
}

}  // namespace

void Assembly::measure(Input& input, Region (*needed)(const Frame&, const Tile&)) {
  input.moves = false;
  for (int rank = 0; rank < frame_.problem.ranks() && !input.moves; ++rank) {
    const Tile& tile = frame_.tile(rank);
    input.moves = !tile.empty() && !covers(input.operand.layout.region(rank), needed(frame_, tile));
  }
  const bool in_place = input.operand.residency == Residency::heap && input.operand.dense;
  if (!input.moves || in_place || largest_node(frame_.problem.topology) == 1) return;
  Operand published = input.operand;
  published.dense = true;
  published.residency = Residency::heap;
  const std::string& name = plan_.buffers[static_cast<std::size_t>(input.buffer)].name;
  input.published = add_array(name + " published", BufferKind::shared, published);
}

void Assembly::measure_tiles() {
  measure(frame_.a, region_of_a);
  measure(frame_.b, region_of_b);
  if (frame_.tiling.stationary_d) return;
  for (int rank = 0; rank < frame_.problem.ranks() && !frame_.delivers; ++rank) {
    const Tile& tile = frame_.tile(rank);
    frame_.delivers = !tile.empty() && !covers(frame_.problem.d.layout.region(rank), region_of_d(tile));
  }
}

void Assembly::add_scratch_buffers() {
  const Problem& problem = frame_.problem;
  const bool between_nodes = problem.topology.node_count() > 1;
  const Dtype compute = problem.compute;
  if (problem.d.dtype != compute || (problem.in_place && (frame_.delivers || problem.k() == 0))) {
    Operand sums = problem.d;
    sums.dtype = compute;
    sums.dense = true;
    frame_.sums = add_array("sums", BufferKind::scratch, sums);
  }
  if (frame_.delivers) {
    std::int64_t elements = 0;
    for (const Tile& tile : frame_.tiles) {
      if (!tile.empty()) elements = std::max(elements, region_of_d(tile).size());
    }
    frame_.products = add_scratch("products", BufferKind::shared, elements * size_of(compute), compute);
  }
  if (between_nodes && (frame_.a.moves || frame_.b.moves)) {
    frame_.arriving = add_scratch("arriving", BufferKind::scratch, 0, problem.a.dtype);
    frame_.leaving = add_scratch("leaving", BufferKind::scratch, 0, problem.a.dtype);
  }
  if (between_nodes && frame_.delivers) {
    frame_.arriving_products = add_scratch("arriving products", BufferKind::scratch, 0, compute);
  }
  limit_messages();
}

// A turn's messages are in flight twice each way, products once.
void Assembly::limit_messages() {
  frame_.message_bytes = most_message_bytes;
  const std::int64_t limit = frame_.problem.options.memory_limit;
  if (limit == 0) return;
  frame_.shortest_turn = 1;
  frame_.message_bytes = std::clamp<std::int64_t>((limit - scratch_bytes()) / 6, 1, most_message_bytes);
}

std::int64_t Assembly::scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan_.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  return bytes;
}

void Assembly::multiply() {
  Plan part;
  part.rank = plan_.rank;
  part.topology = plan_.topology;
  part.buffers = plan_.buffers;
  Walk walk(frame_, part);
  walk.run();
  std::vector<int> same(plan_.buffers.size());
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int>(i);
  append(plan_, part, same);
  size_scratch(walk);
}

void Assembly::size_scratch(const Walk& walk) {
  const auto resize = [this](int buffer, std::int64_t bytes) {
    if (buffer >= 0) plan_.buffers[static_cast<std::size_t>(buffer)].bytes = bytes;
  };
  resize(frame_.arriving, walk.mail().arriving_bytes());
  resize(frame_.leaving, walk.mail().leaving_bytes());
  resize(frame_.arriving_products, walk.mail().arriving_products_bytes());
  if (!walk.uses_sums()) resize(frame_.sums, 0);
}

void Assembly::check_limit() const {
  const std::int64_t limit = frame_.problem.options.memory_limit;
  check(limit == 0 || scratch_bytes() <= limit,
        "a memory limit of {} bytes is too small for this multiply by {}; {} bytes would do on rank {}",
        limit, frame_.tiling.name, scratch_bytes(), plan_.rank);
}

void Assembly::redistribute_after() {
  for (const Delivery& delivery : deliveries_) append_redistribution(delivery.from, delivery.to);
}

}  // namespace partita::multiplication
