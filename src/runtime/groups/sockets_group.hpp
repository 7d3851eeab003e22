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

/// The ranks of the connections that this process was started with. The first call takes them: they are not
/// inherited by programs that this one starts, and the environment variable is removed. Collective; waits at
/// most `deadline` for the other ranks. Errors: ArgumentError (invalid connections, an invalid
/// `ranks_per_node`), UnsupportedError (a fork of the process that took them), TimeoutError, LostPeerError,
/// DisagreementError (different ranks per node: the same on every rank).
std::unique_ptr<ProcessGroup> make_sockets_group(int ranks_per_node, std::chrono::milliseconds deadline);
/// The same on these connections.
std::unique_ptr<ProcessGroup> make_sockets_group(std::shared_ptr<SocketsLinks> links, int ranks_per_node,
                                                 std::chrono::milliseconds deadline);

}  // namespace partita::runtime
