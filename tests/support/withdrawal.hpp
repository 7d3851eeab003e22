// What becomes of a context whose ranks have executed, or begun to execute, different things.
#pragma once

#include "support/on_ranks.hpp"

namespace partita::testing {

/// Ranks can withdraw from executions of the host: docs/errors.md says where.
inline bool can_withdraw(const Context& context) {
  return !context.state()->device && context.state()->topology().node_count() == 1;
}

/// All ranks have thrown. `may_be_done`: a rank may have done its call and gone on before.
inline void expect_goes_on_where_it_can(Context& context, bool may_be_done = false) {
  if (context.failed()) {
    EXPECT_TRUE(may_be_done || !can_withdraw(context)) << context.failure();
    EXPECT_ERROR(FailedContextError, context.barrier(), "has failed");
  } else {
    EXPECT_TRUE(can_withdraw(context));
    context.barrier();
  }
}

}  // namespace partita::testing
