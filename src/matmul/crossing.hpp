// Arrays of which some lie in host memory and some in a device's: the device multiplies, and the others
// cross.
#pragma once

#include <partita/matmul.hpp>
#include <partita/work.hpp>
#include <string>

#include "matmul/request.hpp"

namespace partita::multiplication {

/// Where it is multiplied: on the device, where any operand lies there.
MemorySpace space_of(const MatmulOperands& operands);

/// As the planner sees them: where the device multiplies, stand-ins for what lies in host memory.
MatmulOperands as_planned(MatmulOperands operands);

/// What crosses, in words, to be added to others.
std::string crossing_text(const MatmulOperands& operands, const MatmulOptions& options);

/// The plan's own arrays on the device, in the place of the caller's in host memory.
class Crossing {
 public:
  /// Local.
  Crossing(const MatmulOperands& operands, const MatmulOptions& options, bool in_place)
      : operands_(operands), options_(options), in_place_(in_place) {}
  /// Allocates them. Collective.
  void connect(ContextState& context);

  std::int64_t bytes(int rank) const;  ///< of them all

  /// As the plan sees the caller's arrays.
  Request seen(const Request& given) const;
  /// Copies what an execution with these factors reads. Throws ArgumentError where an array is not as the
  /// plan was made for. Local, blocking.
  void bring(ContextState& context, const Request& given, const Parameters& parameters);
  /// Copies back what it has written. Likewise.
  void take_back(ContextState& context, const Request& given) const;

 private:
  template <class Body>
  void for_each_own(const Body& body) const;

  MatmulOperands operands_;
  MatmulOptions options_;
  bool in_place_;
  Request own_;  // not valid: the caller's lies on the device, or all is done on the host
};

}  // namespace partita::multiplication
