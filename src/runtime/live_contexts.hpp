// The contexts of this process.
#pragma once

#include <memory>
#include <string_view>

namespace partita {

struct ContextState;

/// A state that a forked child leaves alone: what it says there would be said in its parent's name, and its
/// threads are not there.
std::shared_ptr<ContextState> make_context_state();

/// From here on `leave_contexts` speaks for it, until it goes. A state that can be used.
void note_live_context(ContextState& state);

/// Says for every live context that has neither failed nor been closed that this rank leaves it, and `how`.
/// Does not block. Any thread.
void leave_contexts(std::string_view how) noexcept;

}  // namespace partita
