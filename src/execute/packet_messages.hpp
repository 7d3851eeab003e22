// What a plan of messages moves, as devices take it that carry messages in packets.
#pragma once

#include <cstdint>
#include <partita/plan.hpp>
#include <vector>

#include "device/packet_exchange.hpp"
#include "kernels/host/copy.hpp"

namespace partita {

/// Packs, unpacks and own copies of one rank's plan: one message at most to each peer and from each. Its
/// scratch stands for the messages and is never touched.
class PacketMessages {
 public:
  /// `plan` must outlive it.
  explicit PacketMessages(const Plan& plan);

  /// Whether the plan consists of such steps, and of few enough nests whatever the operands' strides are.
  bool fits() const { return fits_; }
  /// The largest unit that suits all nests whatever the strides are: a power of two up to 8.
  std::int64_t unit_bytes() const { return unit_bytes_; }
  /// Of the largest message.
  std::int64_t message_bytes() const { return message_bytes_; }

  /// For operands with these strides, by buffer.
  void lower(const std::vector<Strides>& strides);
  /// What has been lowered last; valid until it is lowered again.
  PacketMoves moves() const;

 private:
  struct Part {
    int peer = -1;
    std::size_t step = 0;     // of the copy
    std::int64_t offset = 0;  // of the message, in scratch
  };
  struct Nests {
    std::vector<int> peers;  // by nest
    std::vector<StridedCopy> nests;
    std::vector<PacketPart> parts;
  };

  bool sort_steps();
  bool sort_copy(std::size_t index);
  void lower(const std::vector<Part>& parts, bool are_given, const std::vector<Strides>& strides,
             Nests& to) const;
  void look_at_limits();
  std::vector<Strides> widest_strides() const;

  const Plan& plan_;
  std::vector<Part> packs_, unpacks_;
  std::vector<std::size_t> own_;  // steps
  Nests given_, taken_;
  std::vector<StridedCopy> kept_;
  bool fits_ = false;
  std::int64_t unit_bytes_ = 1;
  std::int64_t message_bytes_ = 0;
};

}  // namespace partita
