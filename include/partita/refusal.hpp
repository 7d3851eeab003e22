// Errors of one rank before a collective call, reported to all ranks. For bindings and programs that process
// arguments before they call the library: their errors then behave as those of the library.
#pragma once

#include <exception>
#include <functional>
#include <partita/context.hpp>
#include <partita/export.hpp>
#include <partita/fact.hpp>
#include <string_view>
#include <vector>

namespace partita {

/// Call it in an exception handler on a rank that cannot make its next collective call because of the
/// exception: all ranks throw this exception in the collective call of the context that they are in, or make
/// next. If several ranks do so, the exception is that of the lowest rank. The text begins with `operation`
/// and lists the ranks that threw, unless all did. Exceptions that are not partita::Error are thrown as Error
/// with their text, std::bad_alloc as MemoryError.
///
/// The exception is rethrown unchanged, without communication, if all ranks have just thrown it, or if the
/// context has failed, is closed or has one rank.
///
/// If other ranks had begun to execute a cached plan, the context has failed. (Only ranks of the same node
/// detect this before the deadline.)
///
/// `error`: the default is the exception that the handler has caught. The caller looks it up, because the
/// library may use another C++ runtime, where a package of the process brings one.
///
/// Collective with the next call of the other ranks, blocking.
[[noreturn]] PARTITA_API void throw_on_all(const Context& context, std::string_view operation,
                                           const std::exception_ptr& error = std::current_exception());

/// Call it after code that each rank executes independently between collective calls and that may throw, such
/// as a function of the program: returns when all ranks have called it. If one has called `throw_on_all`
/// instead, it throws that exception, before any rank makes the next call. `operation`: the same on all
/// ranks. Collective, blocking.
PARTITA_API void listen_to_all(const Context& context, std::string_view operation);

/// Calls `local`, which checks this rank's arguments and returns the properties that must be the same on all
/// ranks, and compares these and `operation` over all ranks. If `local` throws on some ranks, all ranks throw
/// the exception of the lowest of them; if properties differ, all throw DisagreementError, which names the
/// ranks and the values. The context remains usable. For callers that enqueue work on a device, which
/// compares nothing. Collective, blocking. FailedContextError: the context has failed or is closed.
PARTITA_API void agree(const Context& context, std::string_view operation,
                       const std::function<std::vector<Fact>()>& local);

}  // namespace partita
