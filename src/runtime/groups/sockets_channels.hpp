// Connections of one program, made through the channels that a launcher has left between the ranks. For the
// files of the sockets backend only.
#pragma once

#include <chrono>
#include <vector>

#include "base/file_descriptor.hpp"

namespace partita::runtime {

/// A rank may run several programs, one after the other (`sh -c 'first && second'`), with the same channels.
/// Data on them would reach whichever program of the other rank reads first. So a channel carries one message
/// per program: of each pair of ranks the lower one makes a connection and sends its other end. The nth
/// program of a rank takes the nth message, and reads nothing else. Ends whose program has exited are
/// skipped.
class SocketsChannels {
 public:
  /// channels[r]: a stream to rank r; this rank's own place is empty. Sends to the higher ranks. Throws Error
  /// where the kernel gives no socket, LostPeerError where a rank has ended.
  SocketsChannels(int rank, std::vector<FileDescriptor> channels);

  /// Receives from the lower ranks; the connections, by rank. May be called again after a TimeoutError.
  /// Throws TimeoutError after `deadline`, LostPeerError where a rank has ended.
  std::vector<FileDescriptor> connect(std::chrono::milliseconds deadline);

 private:
  void send_end(int to);
  bool receive_end(int from);

  int rank_;
  std::vector<FileDescriptor> channels_;
  std::vector<FileDescriptor> connections_;
};

}  // namespace partita::runtime
