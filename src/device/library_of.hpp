// The vendor's library of collectives among the ranks of a context.
#pragma once

namespace partita {

struct DeviceRuntime;
class DeviceGroup;

/// Made when it is wanted first; null: there is none. Collective, blocking within the deadline; what it
/// throws has failed the context.
DeviceGroup* library_of(DeviceRuntime& state);

/// Whether the library carries the messages of device memory between nodes, in groups: there are nodes, it is
/// there, and no other way is asked for. As `library_of`.
bool messages_go_in_groups(DeviceRuntime& state);

}  // namespace partita
