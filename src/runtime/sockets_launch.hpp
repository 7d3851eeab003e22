// The connections that a launcher has handed to this process. For the files of the sockets backend only.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/sockets_links.hpp"

namespace partita::runtime {

/// Set by the launcher (tools/connected_ranks.cpp): this rank of the job, and for each rank the descriptor of
/// a stream socket that leads to it; "-" in this rank's own place: "1:5,-,7".
inline constexpr const char* sockets_variable = "PARTITA_SOCKETS";

struct HandedSockets {
  int rank = 0;
  std::vector<int> descriptors;  ///< by rank; -1 in its own place
};
/// Throws ArgumentError for anything else than the variable's form.
HandedSockets parse_sockets(std::string_view text);

/// Takes them, at the first call: from then on they are closed in programs that this one starts, and the
/// variable is gone. What is still to be sent when the process exits leaves then. Throws ArgumentError where
/// one of them is no socket, UnsupportedError in a fork of the process that took them. Thread-safe, but the
/// first call changes the environment.
std::shared_ptr<SocketsLinks> sockets_of_launcher();

}  // namespace partita::runtime
