// Descriptors of open files, passed between the processes of a node.
#pragma once

#include <string_view>
#include <vector>

#include "base/file_descriptor.hpp"

namespace partita::runtime {
struct Runtime;
}

namespace partita::memory {

/// Every rank's descriptors (1 to 16), on every rank of its node: result[rank], empty for ranks of other
/// nodes and for this one. Collective over the context's ranks, blocking; Errors are the same on every rank.
std::vector<std::vector<FileDescriptor>> exchange_descriptors(runtime::Runtime& state,
                                                              std::string_view operation,
                                                              const std::vector<int>& mine);

}  // namespace partita::memory
