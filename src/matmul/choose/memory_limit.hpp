// Refusals of memory limits that are too small: how much is required.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <partita/error.hpp>
#include <string>

#include "matmul/problem.hpp"

namespace partita::multiplication {

/// The planner's own refusal of a memory limit. `needed`: bytes that may be enough; an estimate before a rank
/// has a plan (`alike`: the same on every rank), afterwards what this rank's plan takes.
class LimitRefusal : public ArgumentError {
 public:
  LimitRefusal(const std::string& text, std::int64_t needed, bool alike)
      : ArgumentError(fmt::format("{}; at least {} bytes are required", text, needed)),
        text_(text),
        needed_(needed),
        alike_(alike) {}

  const std::string& text() const { return text_; }  ///< without how much is required
  std::int64_t needed() const { return needed_; }
  bool alike() const { return alike_; }

 private:
  std::string text_;
  std::int64_t needed_;
  bool alike_;
};

/// A memory limit with which every rank has a plan, the problem's own if that is enough. Found by planning,
/// since a plan with more room takes more of it: the estimate of one refusal in 25 is too small. The same on
/// every rank; but of many ranks some are tried, including this one, and a little is added.
std::int64_t enough_memory(const Problem& problem);

}  // namespace partita::multiplication
