// What keeps one rank from a collective call before it can make it, told to all ranks. For bindings and
// programs that work on their arguments before they call: what is wrong with these is then as what the
// library finds itself.
#pragma once

#include <functional>
#include <partita/context.hpp>
#include <partita/export.hpp>
#include <partita/fact.hpp>
#include <string_view>
#include <vector>

namespace partita {

/// In the handler of an exception, on a rank that cannot make its next collective call because of it: the
/// ranks throw the same exception in whatever collective call of the context they come to, or are in. It is
/// that of the lowest such rank, with the numbers of those that threw it unless all did, and the text begins
/// with `operation` after these. What is no partita::Error is thrown as one, with its text; std::bad_alloc as
/// a MemoryError.
///
/// As it is, and without communication, is thrown: what all ranks of the context have just thrown, and where
/// the context has failed, is closed or has one rank.
///
/// Where other ranks had begun to execute a plan that they keep, the context has failed with it. (Only ranks
/// of the same node find this out before the deadline.)
///
/// Collective with the next call of the others, blocking.
[[noreturn]] PARTITA_API void throw_on_all(const Context& context, std::string_view operation);

/// For the end of what a rank does by itself between collective calls, where it may throw (a function of the
/// program's, say): returns when all ranks have called it. Where one has called `throw_on_all` instead, it
/// throws that. Ranks that listen so are in the same call as the one that throws, and not one call further.
/// `operation`: the same on all ranks. Collective, blocking.
PARTITA_API void listen_to_all(const Context& context, std::string_view operation);

/// Calls `local`, which checks this rank's arguments and returns what all ranks must have alike, and compares
/// that and `operation` over all ranks. Where `local` throws on some rank, all ranks throw the exception of
/// the lowest such rank; where values differ, all throw DisagreementError, which names the ranks and the
/// values. The context stays usable. For callers that enqueue work on a device, which compares nothing.
/// Collective, blocking, within the deadline. FailedContextError: the context has failed or is closed.
PARTITA_API void agree(const Context& context, std::string_view operation,
                       const std::function<std::vector<Fact>()>& local);

}  // namespace partita
