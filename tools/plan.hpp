// What `partita plan` is asked, and its answer for a multiply.
#pragma once

#include "tools/question.hpp"

namespace partita::tools {

struct PlanOptions {
  Question question;
  double memory = 0;  ///< of a rank, in shares of a multiply's operands; 0: both without limit and 1.5
  int ranks_per_node = -1;
  int rank = 0;  ///< whose steps are listed
  bool steps = false, json = false, verify = false;
};

/// Where it would run.
struct Setting {
  Topology topology;
  Machine machine;
};

/// Prints what a multiply would move, beside the lower bound. No MPI.
void plan_multiply(const PlanOptions& options, const Setting& setting);

}  // namespace partita::tools
