// Ranks on this machine that are connected with each other by sockets, without MPI.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace partita::tools {

/// Starts so many processes, each of which calls `become`, which does not return. For Partita they have a
/// stream to every other rank (PARTITA_SOCKETS, see src/runtime/groups/sockets_launch.hpp), for scripts their
/// number (PARTITA_RANK); rank 0 has our stdin. They end when this process does, and get the signals of
/// <tools/child_signals.hpp>. Returns their numbers, by rank.
/// Throws an error that says why where there are too few descriptors or processes.
std::vector<pid_t> start_connected_ranks(int ranks, const std::function<void()>& become);

}  // namespace partita::tools
