// What a context owes to the graphs that its work is captured into.
#pragma once

#include <memory>
#include <partita/stream.hpp>

namespace partita {

struct ContextState;

/// Where `stream` (the context's own where it is null) is being captured, `plan`, whose work it is given,
/// stays as long as the graph and all that is made of it, at most until the context is closed or goes.
void keep_for_graph(ContextState& state, Stream stream, const std::shared_ptr<void>& plan);

}  // namespace partita
