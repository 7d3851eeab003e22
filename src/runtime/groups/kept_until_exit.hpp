// What must stay until the process ends: buffers and memory that a message may still be written to.
#pragma once

#include <memory>

namespace partita::runtime {

/// Keeps `thing` for ever (reachable, so that leak checkers stay silent). Any thread; never throws (where
/// there is no memory for the note, the thing is leaked).
void keep_until_exit(std::shared_ptr<void> thing) noexcept;

}  // namespace partita::runtime
