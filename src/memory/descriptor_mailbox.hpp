// Where a process takes in descriptors of open files from the other processes of its machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"

namespace partita::memory {

/// A Unix socket in the abstract namespace: nothing in the file system, and removed with the process. Its
/// name and its secret are random; connections of other users, or without the secret, are rejected.
///
/// Nothing here waits: a connection to a listening socket is established, and data written to it is kept,
/// before the other side has accepted it.
class DescriptorMailbox {
 public:
  /// At most `places` unread deliveries. Throws Error.
  explicit DescriptorMailbox(int places);

  /// What a peer must know to deliver here; arbitrary bytes.
  std::string address() const;
  /// Puts descriptors (1 to 16) into the mailbox at `address`; they stay open here. Throws Error: refused
  /// (another network namespace), another user's.
  static void deliver(const std::string& address, std::int32_t sender, const std::vector<int>& descriptors);
  /// Takes out all deliveries that have arrived, by their sender. Throws Error (a descriptor was lost, no
  /// descriptors left in this process).
  std::map<std::int32_t, std::vector<FileDescriptor>> collect();

 private:
  void receive(const FileDescriptor& connection,
               std::map<std::int32_t, std::vector<FileDescriptor>>& into) const;
  FileDescriptor listener_;
  std::string name_;
  std::string secret_;
};

}  // namespace partita::memory
