// The whole plan of one rank: what is redistributed first, the multiply itself, what is redistributed after.
#pragma once

#include <optional>
#include <partita/redistribute.hpp>
#include <string>
#include <vector>

#include "matmul/emit/matmul_buffers.hpp"
#include "matmul/emit/put_exchange.hpp"
#include "matmul/plan.hpp"
#include "plan/plan_builder.hpp"

namespace partita::multiplication {

// --- what surrounds a multiply: arrays with other layouts than it needs

/// As `operand`, in scratch that the node shares.
Operand in_scratch(const Operand& operand, Layout layout);

bool lies_as(const Operand& operand, const Layout& layout);

/// One holder an element, contiguous parts: cut along the longest of the dimensions from `first` on.
Layout slabs(const Layout& layout, int first);

/// How arrays are redistributed inside the plan: with little staging where memory is limited.
RedistributeOptions redistribution_within(const Problem& problem);

/// Bytes of scratch of one redistribution, the same on every rank.
std::int64_t staging_bytes(const Problem& problem, const Operand& from, const Operand& to);

/// Local multiplies of a rank for which operands are used as they are: neither redistributed first, nor
/// gathered in panels.
inline constexpr std::int64_t few_multiplies = 256;

class Assembly {
 public:
  explicit Assembly(const Problem& problem);
  ProductPlan finish() &&;

 private:
  struct Relay {
    int MatmulBuffers::*buffer;
    Operand to;
    std::string name;
    bool written;  // after the multiply, and not read before
  };
  struct Delivery {
    int from;
    int to;
  };

  const Operand& operand_of(int buffer) const { return builder_.operand(buffer); }
  void add_operands();
  void choose();
  double take_tiling(const Problem& seen);  // its price
  std::int64_t multiplies() const;
  void relay_thin_operands(Problem seen, double seconds);
  void sum_contributions();
  void relay(bool of_a, Layout layout);
  std::optional<Operand> summed_elsewhere(bool stationary) const;
  void gather_up_d();
  Operand contribution_of_a_rank() const;
  std::optional<planning::SmallExchange> in_packets(const Operand& from, const Operand& to) const;
  bool every_rank_contributes() const;
  void contribute();
  void sum_in_packets();
  void drop_packets_beside_transfers();
  bool puts_d_to_all();
  void find_pipeline();
  std::vector<Relay> relays(const Operand& d) const;
  void prepare_epilogue();
  Operand share_of_a_rank(const Operand& whole, Reduction reduction) const;
  Operand gradient_of_a_rank() const;
  Operand gradient_summed() const;
  void sum_gradient();
  void open_amax();
  void measure();
  void measure_panels();
  void add_panels();
  void add_ring();
  void add_scratch_buffers();
  void limit_messages();
  void share_among_panels(std::int64_t room);
  void multiply();
  void check_limit() const;
  [[noreturn]] void refuse_limit(std::int64_t needed) const;
  void deliver_gradient();
  std::int64_t common_scratch_bytes() const;
  std::int64_t relayout_scratch(bool stationary) const;
  std::int64_t gradient_scratch() const;
  std::int64_t amax_scratch() const;
  std::int64_t scratch_after() const;

  int redistributed(int from, const Operand& to, const std::string& name);
  void append_redistribution(int from, int to);

  MatmulBuffers buffers_;
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  std::string noted_;                 // what was redistributed
  std::vector<Delivery> deliveries_;  // after the multiply
  int given_gradient_ = -1;           // the caller's
  int given_amax_ = -1;               // the caller's
  LandingBytes landing_bytes_;        // of what neighbours put
  std::optional<Layout> relaid_d_;    // in which D is made, where its own is too thin
  std::vector<planning::PacketSteps> packets_;
  std::optional<MatmulBuffers> last_;  // where packets sum what the buffers multiplies: that of the last pass
};

}  // namespace partita::multiplication
