// The fastest method by trial.
#pragma once

#include "matmul/runner.hpp"

namespace partita::multiplication {

/// Times every method that can be planned for the setting, on the arrays of the request, and gives the
/// fastest of the slowest rank's medians of `runs`. What is written in place is put back. Collective,
/// blocking; the same choice on every rank. Throws what planning throws where no method suits.
std::shared_ptr<Runner> fastest(ContextState& context, const Setting& setting, const Request& request,
                                int runs);

}  // namespace partita::multiplication
