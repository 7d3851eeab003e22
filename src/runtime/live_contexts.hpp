// The contexts of this process.
#pragma once

#include <functional>
#include <string_view>

namespace partita::runtime {

struct Runtime;

/// From here on `leave_contexts` speaks for it, until it is forgotten. One that can be used.
void note_live_context(Runtime& context);
void forget_live_context(Runtime& context);

/// Another address for each thread that is there.
const void* this_thread_mark() noexcept;

/// Those that the calling thread has used last, with a lock on them all: none goes meanwhile.
void for_each_context_of_this_thread(const std::function<void(Runtime&)>& visit);

/// Says for every live context that has neither failed nor been closed that this rank leaves it, and `how`.
/// While messages are in flight a rank that goes on says nothing, since its peers may still get them; one
/// that ends at once does. Does not block. Any thread.
void leave_contexts(std::string_view how, bool at_once = false) noexcept;

}  // namespace partita::runtime
