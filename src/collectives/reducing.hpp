// What the reducing collectives share.
#pragma once

#include <partita/collectives.hpp>
#include <string_view>

#include "collectives/call.hpp"

namespace partita::collective {

CallSignature signature_of(std::string_view operation, const View& source, const View& destination,
                           const ReduceOptions& options);

/// The facts and views of a reducing call, in place or not; layouts and plan are still to come.
Call reducing_call(std::string_view operation, const View& source, const View& destination,
                   const ReduceOptions& options);

/// An all-reduce, whole, in the name of an operation: a literal.
Call all_reducing_call(std::string_view operation, const View& source, const View& destination,
                       const ReduceOptions& options, int ranks);

/// contributions -> a layout of whole values, joined in rank order: the small ones read whole from shared
/// scratch, the large ones in slices.
Plan plan_joining(const Request& request, const char* how_in_slices);

}  // namespace partita::collective
