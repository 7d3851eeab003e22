// What signals between two ranks are about.
#pragma once

namespace partita::planning {

/// `ready` is signalled by the owner of a source or slot to its reader, `done` in return; `grant` by the
/// owner of a destination to its writer, `written` in return. Code that analyses the steps of plans relies on
/// this.
enum class Channel : int { ready, done, grant, written };

/// Says that a peer may begin, not that something has ended.
constexpr bool opens(int channel) {
  return channel == static_cast<int>(Channel::ready) || channel == static_cast<int>(Channel::grant);
}

/// Says that memory is no longer used, or has been read: nothing that was written has to be visible for it.
constexpr bool is_about_reads(int channel) {
  return channel == static_cast<int>(Channel::grant) || channel == static_cast<int>(Channel::done);
}

}  // namespace partita::planning
