// The ranks as processes of one machine that are connected with each other by sockets, without MPI: those of
// `partita run --threads`.
#pragma once

#include <chrono>
#include <memory>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

class SocketsLinks;

/// This process was started with connections to other ranks (PARTITA_SOCKETS), or has taken them.
/// Thread-safe.
bool has_sockets();

/// The ranks of the connections that this process was started with, which are taken at the first call: they
/// are not handed on to programs that this one starts, and the variable goes. Collective; waits for the other
/// ranks to call it, at most `deadline`. Errors: ArgumentError (what was handed over is no connection, a bad
/// `ranks_per_node`), UnsupportedError (a fork of the process that took them), TimeoutError, LostPeerError,
/// DisagreementError (of the ranks per node: the same on every rank).
std::unique_ptr<ProcessGroup> make_sockets_group(int ranks_per_node, std::chrono::milliseconds deadline);
/// The same on these connections.
std::unique_ptr<ProcessGroup> make_sockets_group(std::shared_ptr<SocketsLinks> links, int ranks_per_node,
                                                 std::chrono::milliseconds deadline);

}  // namespace partita::runtime
