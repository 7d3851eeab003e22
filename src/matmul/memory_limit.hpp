// What a memory limit that is too small is refused with: how much would do.
#pragma once

#include <partita/error.hpp>
#include <string>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// The planner's own refusal of a memory limit. `needed`: bytes that may do; by an estimate where no rank has
/// a plan yet (`alike`: the same on every rank), otherwise what this rank's plan takes.
class LimitRefusal : public ArgumentError {
 public:
  LimitRefusal(const std::string& text, std::int64_t needed, bool alike)
      : ArgumentError(text), needed_(needed), alike_(alike) {}

  std::int64_t needed() const { return needed_; }
  bool alike() const { return alike_; }

 private:
  std::int64_t needed_;
  bool alike_;
};

/// A memory limit, larger than the problem's, with which every rank has a plan: tried, since a plan with more
/// room takes more of it. The same on every rank; but of many ranks some are tried, this one among them, and
/// a little is added.
std::int64_t enough_memory(const Problem& problem);

}  // namespace partita::multiplication
