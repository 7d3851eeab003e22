// Where a process runs: enough to know who shares a machine, and to find out later whether a process lives.
#pragma once

#include <array>
#include <cstdint>
#include <partita/topology.hpp>
#include <span>
#include <string>
#include <string_view>

namespace partita::runtime {

/// Plain bytes of fixed size: it travels in one all-gather.
struct HostIdentity {
  std::array<char, 64> host{};
  std::array<char, 40> boot{};          ///< changes with every start of the machine's kernel
  std::uint64_t mount_namespace = 0;    ///< containers of one machine differ here
  std::uint64_t network_namespace = 0;  ///< local sockets reach only this far
  std::uint64_t process_namespace = 0;  ///< process numbers mean the same only within
  std::int64_t process = 0;             ///< its number
  std::uint64_t start_time = 0;         ///< of the process, in clock ticks since boot: numbers are used again

  bool same_node(const HostIdentity& other) const;       ///< memory can be shared
  bool same_processes(const HostIdentity& other) const;  ///< process numbers mean the same
  std::string host_name() const;
  std::string place() const;  ///< "host:pid"
};

HostIdentity this_host();

/// The host of a place, "host:pid" with whatever follows.
std::string host_of(std::string_view place);

/// Start time of a process (see above); 0: the process does not exist, or has ended and is not reaped yet.
std::uint64_t process_start_time(std::int64_t process);

/// Ranks of one host share a node; with `ranks_per_node` > 0, consecutive ones of them, so many a node. Nodes
/// are numbered in order of appearance.
Topology topology_of(std::span<const HostIdentity> ranks, int ranks_per_node);

}  // namespace partita::runtime
