// What becomes of a context whose ranks have executed, or begun to execute, different things, or not all of
// them.
#pragma once

#include "support/on_ranks.hpp"

namespace partita::testing {

/// Streams go on behind the signals of executions that are lost, also those of another plan, and what they
/// leave is undefined: ThreadSanitizer rightly sees races.
inline bool may_race() {
#ifdef __SANITIZE_THREAD__
  return tests_fake_devices();
#else
  return false;
#endif
}

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
