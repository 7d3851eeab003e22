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

/// Visits the contexts that the calling thread has used last, with a lock on all of them: none is destroyed
/// meanwhile.
void for_each_context_of_this_thread(const std::function<void(Runtime&)>& visit);

/// Reports for every live context that has neither failed nor been closed that this rank leaves it, and
/// `how`. A rank that continues does not report while messages are in transit, because its peers may still
/// receive them; one that exits `at_once` does. Does not block. Callable from any thread.
void leave_contexts(std::string_view how, bool at_once = false) noexcept;

}  // namespace partita::runtime
