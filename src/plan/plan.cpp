#include <partita/plan.hpp>
#include <string_view>

#include "base/check.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

// FNV-1a over bytes, with the finaliser of MurmurHash3 so that every input bit reaches every output bit.
// Only text and numbers go in, never addresses: the same in every process and run.
class Hash {
 public:
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char character : text) add_byte(static_cast<unsigned char>(character));
  }
  void add(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(bits >> shift));
  }
  std::uint64_t value() const {
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdULL;
    mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return mixed ^ (mixed >> 33);
  }

 private:
  void add_byte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

// Private scratch may have another size on each rank, so its bytes stay out.
void add_buffer(Hash& hash, const Buffer& buffer) {
  hash.add(buffer.name);
  hash.add(static_cast<std::int64_t>(buffer.kind));
  hash.add(buffer.operand ? buffer.operand->to_string() : std::string());
  hash.add(buffer.kind == BufferKind::shared ? buffer.bytes : 0);
  hash.add(std::int64_t{buffer.view_of});
}

void add_topology(Hash& hash, const Topology& topology) {
  hash.add(std::int64_t{topology.ranks()});
  for (int rank = 0; rank < topology.ranks(); ++rank) hash.add(std::int64_t{topology.node(rank)});
  if (topology.has_cross_memory()) hash.add(std::int64_t{1});
}

void add_move(Traffic& traffic, const Plan& plan, const Step& step) {
  const std::int64_t bytes = planning::moved_bytes(plan, step);
  if (step.from.rank != plan.rank || step.to.rank != plan.rank) {
    traffic.node_bytes += bytes;
  } else if (planning::is_scratch(plan, step.from) || planning::is_scratch(plan, step.to)) {
    traffic.staging_bytes += bytes;
  } else {
    traffic.local_bytes += bytes;
  }
}

}  // namespace

std::uint64_t Plan::hash() const {
  Hash hash;
  hash.add(operation);
  hash.add(static_cast<std::int64_t>(identity.size()));
  for (const Fact& fact : identity) {
    hash.add(fact.name);
    hash.add(fact.value);
  }
  hash.add(method);
  if (grouped) hash.add("grouped");
  hash.add(static_cast<std::int64_t>(buffers.size()));
  for (const Buffer& buffer : buffers) add_buffer(hash, buffer);
  add_topology(hash, topology);
  return hash.value();
}

Traffic traffic(const Plan& plan) {
  Traffic result;
  for (const Step& step : plan.steps) {
    const StepKind kind = step.kind;
    if (kind == StepKind::copy || kind == StepKind::accumulate) add_move(result, plan, step);
    if (kind == StepKind::send) ++result.messages;
    if (kind == StepKind::receive) result.network_bytes += planning::expected_bytes(step);
    if (kind == StepKind::signal) ++result.signals;
  }
  for (const Work& work : plan.works) result.node_bytes += planning::bytes_written_to_peers(plan, work);
  for (const Part& part : planning::parts_read_from_peers(plan)) {
    result.node_bytes += part.region.size() * size_of(planning::dtype_at(plan, part.place));
  }
  return result;
}

}  // namespace partita
