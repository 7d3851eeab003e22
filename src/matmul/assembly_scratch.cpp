// Scratch of a multiply: which there is, and how much.
#include <algorithm>

#include "base/check.hpp"
#include "matmul/around.hpp"
#include "matmul/assembly.hpp"
#include "matmul/cutting.hpp"
#include "matmul/walk.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t few_multiplies = 256;                           // for which no panels are made
constexpr std::int64_t product_message_bytes = std::int64_t{1} << 20;  // at most
constexpr std::int64_t padding = 1024;                                 // of messages, to cache lines

std::int64_t largest_node(const Topology& topology) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(topology.ranks()));
  std::int64_t most = 0;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    most = std::max(most, ++ranks[static_cast<std::size_t>(topology.node(rank))]);
  }
  return most;
}

/// Whether the ranks of the node hold together all that one of them needs. Parts are disjoint, or replicas.
bool has_it_near(const Frame& frame, const Input& input, int rank, const Region& wanted) {
  std::int64_t missing = wanted.size();
  for (const int mate : frame.problem.topology.node_ranks(frame.problem.topology.node(rank))) {
    if (missing > 0) missing -= common_size(wanted, input.held.by(mate));
  }
  return missing <= 0 && !input.operand.layout.is_replicated();
}

/// Whether some tile needs what lies on another node.
bool crosses_nodes(const Frame& frame, const Input& input, Region (*needed)(const Frame&, const Tile&)) {
  Region before;
  int node = -1;
  for (int rank = 0; rank < frame.problem.ranks(); ++rank) {
    if (frame.tile(rank).empty()) continue;
    Region wanted = needed(frame, frame.tile(rank));
    const int here = frame.problem.topology.node(rank);
    if (here == node && wanted == before) continue;  // the same tiles in the same place
    if (!has_it_near(frame, input, rank, wanted)) return true;
    node = here;
    before = std::move(wanted);
  }
  return false;
}

}  // namespace

void Assembly::measure(Input& input, Region (*needed)(const Frame&, const Tile&)) {
  input.moves = false;
  for (int rank = 0; rank < frame_.problem.ranks() && !input.moves; ++rank) {
    const Tile& tile = frame_.tile(rank);
    input.moves = !tile.empty() && !covers(input.held.by(rank), needed(frame_, tile));
  }
  const bool in_place = input.operand.residency == Residency::heap && input.operand.dense;
  if (!input.moves || in_place || largest_node(frame_.problem.topology) == 1) return;
  Operand published = input.operand;
  published.dense = true;
  published.residency = Residency::heap;
  const std::string& name = plan_.buffers[static_cast<std::size_t>(input.buffer)].name;
  input.published = builder_.add_array(name + " published", published);
}

void Assembly::measure_tiles() {
  measure(frame_.a, region_of_a);
  measure(frame_.b, region_of_b);
  if (frame_.tiling.stationary_d) return;
  for (int rank = 0; rank < frame_.problem.ranks() && !frame_.delivers; ++rank) {
    const Tile& tile = frame_.tile(rank);
    frame_.delivers = !tile.empty() && !covers(frame_.problem.held_d.by(rank), region_of_d(tile));
  }
}

// Without a limit such operands are made square before they are multiplied; within one there is no room for
// that, but for a panel of each.
void Assembly::measure_panels() {
  const Problem& problem = frame_.problem;
  if (problem.options.memory_limit == 0 || problem.topology.node_count() == 1) return;
  if (multiplies() <= few_multiplies || !find_panels(frame_)) return;
  frame_.a.far = frame_.a.moves && crosses_nodes(frame_, frame_.a, region_of_a);
  frame_.b.far = frame_.b.moves && crosses_nodes(frame_, frame_.b, region_of_b);
}

void Assembly::add_scratch_buffers() {
  const Problem& problem = frame_.problem;
  const bool between_nodes = problem.topology.node_count() > 1;
  const Dtype compute = problem.compute;
  if (problem.d.dtype != compute || (problem.in_place && (frame_.delivers || problem.multiplies_nothing()))) {
    Operand sums = problem.d;
    sums.dtype = compute;
    sums.dense = true;
    frame_.sums = builder_.add_array("sums", sums, BufferKind::scratch);
  }
  if (frame_.delivers) {
    std::int64_t elements = 0;
    for (const Tile& tile : frame_.tiles) {
      if (!tile.empty()) elements = std::max(elements, region_of_d(tile).size());
    }
    frame_.products =
        builder_.add_scratch("products", BufferKind::shared, elements * size_of(compute), compute);
  }
  if (between_nodes && (frame_.a.moves || frame_.b.moves)) {
    frame_.arriving = builder_.add_scratch("arriving", BufferKind::scratch, 0, problem.a.dtype);
    frame_.leaving = builder_.add_scratch("leaving", BufferKind::scratch, 0, problem.a.dtype);
  }
  if (between_nodes && frame_.delivers) {
    frame_.arriving_products = builder_.add_scratch("arriving products", BufferKind::scratch, 0, compute);
  }
  limit_messages();
}

// A turn's messages are in flight twice each way, products once.
void Assembly::limit_messages() {
  frame_.message_bytes = most_message_bytes;
  const std::int64_t limit = frame_.problem.options.memory_limit;
  if (limit == 0) return;
  frame_.shortest_turn = 1;
  const std::int64_t room = limit - common_scratch_bytes() - scratch_after();
  if (frame_.gathers) return share_among_panels(room);
  frame_.message_bytes = std::clamp<std::int64_t>(room / 6, 1, most_message_bytes);
}

// Panels get most of it: two messages that leave are a small part of a panel, and so are products that
// arrive.
void Assembly::share_among_panels(std::int64_t room) {
  frame_.message_bytes = std::max<std::int64_t>(room / 16, 1);
  std::int64_t products = 0;
  if (frame_.delivers) {
    const std::int64_t all = plan_.buffers[static_cast<std::size_t>(frame_.products)].bytes;
    products = std::max(frame_.message_bytes, std::min(all, product_message_bytes));
  }
  frame_.panel_bytes = std::max<std::int64_t>(room - products - 2 * frame_.message_bytes - padding, 1);
}

std::int64_t Assembly::scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan_.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  return bytes;
}

// Peers work out each other's messages from it, so it must be the same on all ranks.
std::int64_t Assembly::common_scratch_bytes() const {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan_.buffers) {
    if (buffer.kind != BufferKind::operand)
      bytes += buffer.operand ? array_bytes(*buffer.operand) : buffer.bytes;
  }
  return bytes;
}

// What the redistributions between now and the end of the plan will take, by whether D stays where it is.
std::int64_t Assembly::scratch_around(bool stationary) const {
  const Problem& problem = frame_.problem;
  const std::optional<Operand> sums = summed_elsewhere(stationary);
  const Operand d = sums.value_or(problem.d), like_d = in_scratch(d, d.layout);
  std::int64_t bytes = sums ? array_bytes(d) + staging_bytes(problem, d, problem.d) : 0;
  if (frame_.c >= 0 && !lies_as(operand_of(frame_.c), d.layout)) {
    bytes += array_bytes(like_d) + staging_bytes(problem, operand_of(frame_.c), like_d);
  }
  if (frame_.auxiliary >= 0 && !lies_as(operand_of(frame_.auxiliary), d.layout)) {
    const Operand& given = operand_of(frame_.auxiliary);
    const bool writes = problem.epilogue.writes_auxiliary;
    bytes += array_bytes(like_d) +
             (writes ? staging_bytes(problem, like_d, given) : staging_bytes(problem, given, like_d));
  }
  if (frame_.bias >= 0) {
    const Operand& given = operand_of(frame_.bias);
    const Operand everywhere =
        in_scratch(given, Layout(Replicated(), given.layout.shape(), given.layout.ranks()));
    if (!lies_as(given, everywhere.layout)) {
      bytes += array_bytes(everywhere) + staging_bytes(problem, given, everywhere);
    }
  }
  return bytes + gradient_scratch();
}

std::int64_t Assembly::gradient_scratch() const {
  const Problem& problem = frame_.problem;
  if (given_gradient_ < 0) return 0;
  const Operand share = gradient_of_a_rank(problem), &given = operand_of(given_gradient_);
  if (given.dtype == problem.compute) return staging_bytes(problem, share, given);
  const Operand sums = gradient_summed(problem);
  return array_bytes(sums) + staging_bytes(problem, share, sums);
}

// What will be redistributed after the multiply.
std::int64_t Assembly::scratch_after() const {
  std::int64_t bytes = gradient_scratch();
  for (const Delivery& delivery : deliveries_) {
    bytes += staging_bytes(frame_.problem, operand_of(delivery.from), operand_of(delivery.to));
  }
  return bytes;
}

void Assembly::multiply() {
  Walk walk(frame_, builder_);
  walk.run();
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
