// How many blocks launches whose blocks wait for one another may have.
#pragma once

namespace partita::devices {

/// Blocks of one launch. Where blocks wait for packets or flags, those for which they wait must find room on
/// their device at the same time: the other blocks of the launch, and the launches of all ranks and contexts
/// that share the device. A device may be a slice of another one, with few multiprocessors.
struct LaunchRoom {
  unsigned packets = 1;  ///< of a launch that exchanges packets
  unsigned packets_ahead =
      0;               ///< of one that takes its place behind such a launch before its turn; 0: none does
  unsigned flags = 1;  ///< of a launch that waits for flags and copies
  /// Of one that solves with the triangle of several devices; 0: not where ranks share a device, each of
  /// which would take all registers of the multiprocessors that it has.
  unsigned solves = 1;
};

/// `users`: contexts that have the device open, one for each rank that shares it.
LaunchRoom launch_room(int multiprocessors, int users);

}  // namespace partita::devices
