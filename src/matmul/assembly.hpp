// The whole plan of one rank: what is redistributed first, the multiply itself, what is redistributed after.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "matmul/frame.hpp"
#include "plan/plan_builder.hpp"

namespace partita::multiplication {

class Walk;

class Assembly {
 public:
  explicit Assembly(const Problem& problem);
  Plan finish() &&;

 private:
  const Operand& operand_of(int buffer) const {
    return *plan_.buffers[static_cast<std::size_t>(buffer)].operand;
  }
  Operand& operand_of(int buffer) { return *plan_.buffers[static_cast<std::size_t>(buffer)].operand; }

  void add_operands();
  void choose();
  void take_tiling(const Problem& seen);
  std::int64_t multiplies() const;
  void relay_thin_operands(Problem seen);
  void sum_contributions();
  void relay_a(Layout layout);
  void relay_b(Layout layout);
  std::optional<Operand> summed_elsewhere(bool stationary) const;
  void gather_up_d();
  void lay_as_d(int& buffer, const std::string& name, bool read, bool written);
  void prepare_epilogue();
  void sum_gradient();
  void measure_tiles();
  void measure(Input& input, Region (*needed)(const Frame&, const Tile&));
  void measure_panels();
  void add_scratch_buffers();
  void limit_messages();
  void share_among_panels(std::int64_t room);
  void multiply();
  void size_scratch(const Walk& walk);
  void check_limit() const;
  void redistribute_after();
  void deliver_gradient();
  std::int64_t scratch_bytes() const;
  std::int64_t common_scratch_bytes() const;
  std::int64_t scratch_around(bool stationary) const;
  std::int64_t gradient_scratch() const;
  std::int64_t scratch_after() const;

  int redistributed(int from, const Operand& to, const std::string& name);
  void append_redistribution(int from, int to);

  Frame frame_;
  Plan plan_;
  PlanBuilder builder_{plan_};
  std::string noted_;  // what was redistributed
  struct Delivery {
    int from;
    int to;
  };
  std::vector<Delivery> deliveries_;  // after the multiply
  int given_gradient_ = -1;           // the caller's
  std::optional<Layout> relaid_d_;    // in which D is made, where its own is too thin
};

}  // namespace partita::multiplication
