// One connection to another process: frames on their way out, bytes that have come in. For the files of the
// sockets backend only.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "base/file_descriptor.hpp"
#include "runtime/groups/sockets_frame.hpp"

namespace partita::runtime {

/// For one thread at a time. Nothing blocks, and a closed connection is not an error: data written to it is
/// dropped.
class SocketsStream {
 public:
  /// None: the place of the process itself.
  explicit SocketsStream(FileDescriptor socket);

  int descriptor() const { return socket_.get(); }
  /// False when all data of the peer has been read and it has closed the connection.
  bool open() const { return open_; }

  /// Appends a frame to those that have not been sent. `data`: the content that follows it, which must remain
  /// until `write` has named the message. For kind data: the whole message, which is sent in pieces; other
  /// frames may be sent in between.
  void put(const SocketsFrame& frame, const std::byte* data, std::int64_t bytes, MessageId message);
  /// The same with a payload that is copied.
  void put_copy(const SocketsFrame& frame, std::span<const std::byte> payload);
  /// Writes what the kernel takes; adds the messages that have left whole to `written`.
  void write(std::vector<MessageId>& written);
  bool has_unwritten() const { return !queue_.empty(); }
  /// From here on nothing is read from the message's buffer: a short one is copied and leaves, of a large one
  /// nothing comes behind the piece that has begun. Whether `write` will still name it.
  bool give_up(MessageId message);

  /// Takes in what the kernel has; false: nothing has come.
  bool fill();
  /// What was taken in and not consumed. A short frame fits in whole.
  std::span<const std::byte> arrived() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Straight from the kernel, when nothing is left in `arrived`; 0: nothing has come.
  std::size_t read(std::byte* to, std::size_t bytes);

 private:
  struct Outgoing {
    SocketsFrame frame;
    const std::byte* data = nullptr;
    std::int64_t left = 0;   ///< bytes of the message from `data` on, this frame's included
    std::int64_t sent = 0;   ///< of the frame, header included
    MessageId message = -1;  ///< -1: not waited for
    std::vector<std::byte> kept = {};
  };
  bool write_some(Outgoing& frame);
  void finish_frame(std::vector<MessageId>& written);
  static void keep(Outgoing& frame);
  void end_writing();

  FileDescriptor socket_;
  bool open_;
  bool writes_;  ///< the peer takes something
  std::deque<Outgoing> queue_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace partita::runtime
