// What travels between processes that are connected by sockets. For the files of the sockets backend only.
#pragma once

#include <cstdint>

#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

enum class SocketsFrameKind : std::uint8_t {
  eager,     ///< a short message, whole
  request,   ///< a long message would like to come
  grant,     ///< it may: its receive is there
  refusal,   ///< its receive names another number of bytes
  data,      ///< a piece of it
  farewell,  ///< a FarewellMessage
};

/// Messages up to this size are sent without asking and kept where they arrive until they are received; a
/// larger one leaves when its receive is there, into its buffer.
inline constexpr std::int64_t longest_eager = 16 << 10;
/// Of a large message: what comes behind waits for no more than this.
inline constexpr std::int64_t longest_piece = 256 << 10;

/// The header. Plain bytes: the processes are of one machine.
struct SocketsFrame {
  /// Of the payload that follows (eager, data, farewell); of the message (request) or its receive (refusal).
  std::int64_t bytes = 0;
  std::uint32_t room = 0;  ///< a group with its sub-groups
  std::int32_t key = 0;    ///< of the sub-group
  /// The sender's number of the message (request, and back in grant and refusal).
  MessageId message = -1;
  /// The receiver's number of it (grant, and back in data).
  MessageId receive = -1;
  std::uint32_t mark = expected_mark;
  SocketsFrameKind kind = SocketsFrameKind::eager;
  Lane lane = Lane::control;
  std::uint16_t unused = 0;

  static constexpr std::uint32_t expected_mark = 0x31535450;
  std::int64_t payload() const {
    const bool has_one = kind == SocketsFrameKind::eager || kind == SocketsFrameKind::data ||
                         kind == SocketsFrameKind::farewell;
    return has_one ? bytes : 0;
  }
};

}  // namespace partita::runtime
