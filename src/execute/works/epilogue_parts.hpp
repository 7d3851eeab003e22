// The parts of a last pass over a result, bound to memory.
#pragma once

#include <optional>
#include <vector>

#include "execute/axis_runs.hpp"

namespace partita::execution {

/// The dtype that the pass computes in. Throws UnsupportedError where a part does not go with it.
Dtype computed_in(const ApplyEpilogue& work, const Plan& plan);

/// Empty if the work does not have the part.
std::optional<BoundPart> bound_if(bool has, const Part& part, const WorkBinding& binding);

bool reads_auxiliary(Activation activation);

/// All that are walked over together.
struct EpilogueParts {
  enum Slot : std::size_t { from, to, c, auxiliary, bias, scale_a, scale_b };

  EpilogueParts(const ApplyEpilogue& work, const WorkBinding& binding);

  /// By dimension and part; of parts that there are not, nothing. Refers to this object.
  std::vector<std::vector<PartAxis>> axes() const;
  /// The dimension of rows, or of columns.
  int axis(bool along_rows) const { return dimensions_ - (along_rows ? 2 : 1); }
  const std::optional<BoundPart>& operator[](std::size_t slot) const { return parts_[slot]; }

 private:
  int dimensions_;
  bool bias_along_rows_;
  std::array<std::optional<BoundPart>, max_parts> parts_;
};

}  // namespace partita::execution
