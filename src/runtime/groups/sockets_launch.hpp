// The connections that a launcher has handed to this process. For the files of the sockets backend only.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/groups/sockets_links.hpp"

namespace partita::runtime {

/// This rank of the job, and for each rank the descriptor of a stream socket that leads to it; "-" in this
/// rank's own place: "1:5,-,7". "channels 1:5,-,7", which `partita run --threads` sets
/// (tools/connected_ranks.cpp): what they lead to are not programs but all programs of a rank
/// (sockets_channels.hpp).
inline constexpr const char* sockets_variable = "PARTITA_SOCKETS";

struct HandedSockets {
  int rank = 0;
  std::vector<int> descriptors;  ///< by rank; -1 in its own place
  bool are_channels = false;
};
/// Throws ArgumentError for anything else than the variable's form.
HandedSockets parse_sockets(std::string_view text);

/// Takes the connections at the first call: from then on they are closed in programs that this one starts,
/// and the environment variable is removed. Pending data is sent when the process exits. Throws ArgumentError
/// if one of them is not a socket, UnsupportedError in a fork of the process that took them, TimeoutError and
/// LostPeerError for ranks that do not arrive. Thread-safe, but the first call changes the environment.
std::shared_ptr<SocketsLinks> sockets_of_launcher(std::chrono::milliseconds deadline);

}  // namespace partita::runtime
