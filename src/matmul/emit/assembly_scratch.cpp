// Scratch of a multiply: which there is, and how much.
#include <algorithm>

#include "base/check.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/choose/scratch_account.hpp"
#include "matmul/emit/assembly.hpp"
#include "matmul/emit/cutting.hpp"
#include "matmul/emit/grouped_exchange.hpp"
#include "matmul/emit/ring_emitter.hpp"
#include "matmul/emit/step_emitter.hpp"
#include "matmul/emit/stripe_emitter.hpp"
#include "plan/moves.hpp"
#include "redistribute/method.hpp"
#include "redistribute/rounds.hpp"

namespace partita::multiplication {
namespace {

std::string counted(int count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

constexpr std::int64_t little_staging = std::int64_t{1} << 20;
constexpr std::int64_t least_staging = 256;  // of each rank of a node: a cache line in four slots

/// Whether the ranks of the node hold together all that one of them needs. Parts are disjoint, or replicas.
bool has_it_near(const Problem& problem, const HeldOperand& input, int rank, const Region& wanted) {
  std::int64_t missing = wanted.size();
  for (const int mate : problem.topology.node_ranks(problem.topology.node(rank))) {
    if (missing > 0) missing -= common_size(wanted, input.held.by(mate));
  }
  return missing <= 0 && !input.layout.is_replicated();
}

/// Whether some tile needs data of another node.
bool crosses_nodes(const MatmulBuffers& buffers, bool of_a) {
  const Problem& problem = buffers.problem;
  Region before;
  int node = -1;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    if (buffers.tile(rank).empty()) continue;
    Region wanted = region_of(problem, buffers.tile(rank), of_a);
    const int here = problem.topology.node(rank);
    if (here == node && wanted == before) continue;  // the same tiles in the same place
    if (!has_it_near(problem, problem.input(of_a), rank, wanted)) return true;
    node = here;
    before = std::move(wanted);
  }
  return false;
}

}  // namespace

Operand in_scratch(const Operand& operand, Layout layout) {
  Operand result = operand;
  result.layout = std::move(layout);
  result.dense = true;
  result.residency = Residency::heap;
  return result;
}

bool lies_as(const Operand& operand, const Layout& layout) {
  return operand.layout == layout || operand.layout.equivalent(layout);
}

Layout slabs(const Layout& layout, int first) {
  int axis = first;
  for (int i = first; i < layout.dimensions(); ++i) {
    if (layout.shape()[i] > layout.shape()[axis]) axis = i;
  }
  return Layout(Slab(axis), layout.shape(), layout.ranks());
}

RedistributeOptions redistribution_within(const Problem& problem) {
  RedistributeOptions options;
  if (problem.grouped()) options.method = RedistributeMethod::grouped;
  if (problem.options.memory_limit == 0) return options;
  options.staging_bytes = std::max(little_staging, least_staging * problem.ranks());
  return options;
}

std::int64_t staging_bytes(const Problem& problem, const Operand& from, const Operand& to) {
  const redistribution::Problem posed =
      redistribution::make_problem(from, to, problem.topology, problem.rank, redistribution_within(problem));
  const redistribution::Method method = redistribution::choose_method(posed);
  if (method.is_grouped()) return redistribution::choose_rounds(posed, 1).private_bytes();
  const redistribution::Staging staging = redistribution::choose_staging(posed, method);
  return staging.shared_bytes + staging.private_bytes;
}

void Assembly::measure() {
  const Problem& problem = buffers_.problem;
  Demand demand;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    demand.add(problem, buffers_.tile(rank), rank, buffers_.tiling.stationary_d);
  }
  buffers_.a.moves = demand.moves_a;
  buffers_.b.moves = demand.moves_b;
  buffers_.delivers = demand.delivers;
  buffers_.most_products = demand.products;
  if (buffers_.stripes) return add_panels();
  if (buffers_.ring) return add_ring();
  landing_bytes_ = find_pushes(buffers_);
  if (problem.grouped()) find_rounds(buffers_);
  for (const bool of_a : {true, false}) {
    Input& input = buffers_.input(of_a);
    const Operand& operand = problem.input(of_a);
    if (!input.moves || input.pushed || !is_published(problem, operand)) continue;
    const std::string& name = builder_.buffer(input.buffer).name;
    input.published = builder_.add_array(name + " published", in_scratch(operand, operand.layout));
  }
}

void Assembly::add_panels() {
  for (const bool of_a : {true, false}) {
    Input& input = buffers_.input(of_a);
    if (!input.moves) continue;
    const Layout layout = panel_layout(buffers_.problem, buffers_.tiles, of_a);
    const std::string name = builder_.buffer(input.buffer).name + " panel";
    input.panel = builder_.add_array(name, in_scratch(buffers_.problem.input(of_a), layout));
    builder_.buffer(input.panel).filled_beside = true;
  }
  noted_ += "; d is made in " + counted(buffers_.stripes->count, "stripe");
}

void Assembly::add_ring() {
  const Dtype dtype = buffers_.problem.reduced;
  buffers_.products =
      builder_.add_scratch("products", BufferKind::scratch, RingEmitter::products_bytes(buffers_), dtype);
  buffers_.landing_products = builder_.add_scratch("landing products", BufferKind::shared,
                                                   RingEmitter::landing_bytes(buffers_), dtype);
  noted_ += fmt::format("; sums are passed around the ring of ranks in {} of each part",
                        counted(buffers_.ring->pieces, "piece"));
  if (buffers_.ring->chains > 1) noted_ += fmt::format(", in {}", counted(buffers_.ring->chains, "chain"));
}

// Without a limit such operands are made square before they are multiplied; within one there is no room for
// that, but for a panel of each.
void Assembly::measure_panels() {
  const Problem& problem = buffers_.problem;
  if (problem.options.memory_limit == 0 || problem.topology.node_count() == 1 || problem.on_device()) return;
  if (multiplies() <= few_multiplies || !find_panels(buffers_)) return;
  buffers_.a.far = buffers_.a.moves && crosses_nodes(buffers_, true);
  buffers_.b.far = buffers_.b.moves && crosses_nodes(buffers_, false);
}

void Assembly::add_scratch_buffers() {
  if (buffers_.ring) return;
  const Problem& problem = buffers_.problem;
  const bool between_nodes = problem.topology.node_count() > 1;
  const Dtype compute = problem.compute;
  if (sums_apart(problem, buffers_.delivers)) {
    auto sums = static_cast<const Operand&>(problem.d);
    sums.dtype = compute;
    sums.dense = true;
    buffers_.sums = builder_.add_array("sums", sums, BufferKind::scratch);
  }
  if (buffers_.delivers) {
    const std::int64_t bytes = buffers_.most_products * size_of(compute);
    const bool is_read = !buffers_.pushes_products && !problem.grouped();  // by neighbours
    const BufferKind kind = is_read ? BufferKind::shared : BufferKind::scratch;
    buffers_.products = builder_.add_scratch("products", kind, bytes, compute);
  }
  const auto add_landing = [&](const char* name, std::int64_t bytes, Dtype dtype) {
    return bytes > 0 ? builder_.add_scratch(name, BufferKind::shared, bytes, dtype) : -1;
  };
  buffers_.landing = add_landing("landing", landing_bytes_.inputs, problem.a.dtype);
  buffers_.landing_products = add_landing("landing products", landing_bytes_.products, compute);
  const auto add = [&](const char* name, Dtype dtype) {
    return builder_.add_scratch(name, BufferKind::scratch, 0, dtype);
  };
  const bool moves = buffers_.a.moves || buffers_.b.moves;
  const bool through_host = problem.on_device() && !problem.grouped();  // messages may be
  if (between_nodes && moves) {
    buffers_.arriving = add("arriving", problem.a.dtype);
    buffers_.leaving = add("leaving", problem.a.dtype);
    if (through_host) buffers_.landed = add("landed", problem.a.dtype);
  }
  if (between_nodes && buffers_.delivers) {
    buffers_.arriving_products = add("arriving products", compute);
    if (through_host) buffers_.landed_products = add("received products", compute);
    if (through_host) buffers_.leaving_products = add("leaving products", compute);
  }
  limit_messages();
}

// A turn's messages are in flight twice each way, products once.
void Assembly::limit_messages() {
  const std::int64_t limit = buffers_.problem.options.memory_limit;
  if (limit == 0) return;
  const std::int64_t room = limit - common_scratch_bytes() - scratch_after();
  if (room < 0) refuse_limit(limit - room);  // before its steps are made
  if (buffers_.problem.topology.node_count() == 1) return;
  buffers_.shortest_turn = 1;
  if (buffers_.gathers) return share_among_panels(room);
  buffers_.message_bytes = std::clamp<std::int64_t>(room / 6, 1, most_message_bytes);
}

// Panels get most of it: two messages that leave are a small part of a panel, and so are products that
// arrive.
void Assembly::share_among_panels(std::int64_t room) {
  buffers_.message_bytes = std::max<std::int64_t>(room / 16, 1);
  std::int64_t products = 0;
  if (buffers_.delivers) {
    const std::int64_t all = builder_.buffer(buffers_.products).bytes;
    products = std::max(buffers_.message_bytes, std::min(all, product_message_bytes));
  }
  buffers_.panel_bytes =
      std::max<std::int64_t>(room - products - 2 * buffers_.message_bytes - message_padding, 1);
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
std::int64_t Assembly::relayout_scratch(bool stationary) const {
  const Problem& problem = buffers_.problem;
  const std::optional<Operand> sums = summed_elsewhere(stationary);
  const Operand d = sums.value_or(problem.d);
  std::int64_t bytes = sums ? array_bytes(d) + staging_bytes(problem, d, problem.d) : 0;
  for (const Relay& relay : relays(d)) {
    const Operand& given = operand_of(buffers_.*relay.buffer);
    bytes += array_bytes(relay.to) + (relay.written ? staging_bytes(problem, relay.to, given)
                                                    : staging_bytes(problem, given, relay.to));
  }
  return bytes + gradient_scratch() + amax_scratch();
}

std::int64_t Assembly::gradient_scratch() const {
  const Problem& problem = buffers_.problem;
  if (given_gradient_ < 0) return 0;
  const Operand share = gradient_of_a_rank(), &given = operand_of(given_gradient_);
  if (given.dtype == problem.compute) return staging_bytes(problem, share, given);
  const Operand sums = gradient_summed();
  return array_bytes(sums) + staging_bytes(problem, share, sums);
}

std::int64_t Assembly::amax_scratch() const {
  if (given_amax_ < 0) return 0;
  return staging_bytes(buffers_.problem, operand_of(buffers_.amax), operand_of(given_amax_));
}

// What will be redistributed after the multiply.
std::int64_t Assembly::scratch_after() const {
  std::int64_t bytes = gradient_scratch() + amax_scratch();
  for (const Delivery& delivery : deliveries_) {
    bytes += staging_bytes(buffers_.problem, operand_of(delivery.from), operand_of(delivery.to));
  }
  return bytes;
}

void Assembly::multiply() {
  if (buffers_.ring) return RingEmitter(buffers_, builder_).run();
  if (buffers_.stripes) {
    StripeEmitter emitter(buffers_, builder_);
    emitter.run();
    if (buffers_.sums >= 0 && !emitter.uses_sums()) builder_.buffer(buffers_.sums).bytes = 0;
    return;
  }
  StepEmitter emitter(buffers_, builder_);
  emitter.run();
  const auto resize = [this](int buffer, std::int64_t bytes) {
    if (buffer >= 0) builder_.buffer(buffer).bytes = bytes;
  };
  resize(buffers_.arriving, emitter.messages().arriving_bytes());
  resize(buffers_.landed, emitter.messages().arriving_bytes());
  resize(buffers_.leaving, emitter.messages().leaving_bytes());
  resize(buffers_.arriving_products, emitter.messages().arriving_products_bytes());
  resize(buffers_.leaving_products, emitter.messages().leaving_products_bytes());
  resize(buffers_.landed_products, emitter.messages().arriving_products_bytes());
  if (!emitter.uses_sums()) resize(buffers_.sums, 0);
}

void Assembly::check_limit() const {
  const std::int64_t limit = buffers_.problem.options.memory_limit, bytes = planning::scratch_bytes(plan_);
  if (limit > 0 && bytes > limit) refuse_limit(bytes);
}

void Assembly::refuse_limit(std::int64_t needed) const {
  throw LimitRefusal(fmt::format("a memory limit of {} bytes is too small for this multiply by {}",
                                 buffers_.problem.options.memory_limit, buffers_.tiling.name),
                     needed, false);
}

}  // namespace partita::multiplication
