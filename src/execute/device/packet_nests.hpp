// Small exchanges as nests between memory and messages.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/packet_exchange.hpp"
#include "plan/small_exchange.hpp"

namespace partita::execution {

class PacketNests {
 public:
  explicit PacketNests(const planning::SmallExchange& exchange);

  /// The largest unit, a power of two up to 8 bytes, that suits all nests for any strides of the operands. 0:
  /// nests may be too many or too large, or the exchange has a reduction, which nests do not support.
  std::int64_t unit_bytes() const { return unit_bytes_; }
  /// Of the largest message.
  std::int64_t message_bytes() const { return message_bytes_; }

  /// For local parts with these strides, in elements. Does nothing where it has been lowered for them.
  void lower(const Strides& source, const Strides& destination);
  /// What has been lowered last; valid until it is lowered again.
  devices::PacketMoves moves() const;

 private:
  struct Nests {
    std::vector<int> peers;  // by nest
    std::vector<kernels::StridedCopy> nests;
    std::vector<devices::PacketPart> parts;
  };
  void lower(const std::vector<planning::SmallExchange::Part>& parts, const Strides& strides, bool are_given,
             Nests& to) const;
  void look_at_limits();

  planning::SmallExchange exchange_;
  bool is_lowered_ = false;  // for these strides
  std::array<Strides, 2> strides_;
  Nests given_, taken_;
  std::vector<kernels::StridedCopy> kept_;
  std::int64_t unit_bytes_ = devices::PacketSlots::data_bytes;
  std::int64_t message_bytes_ = 0;
};

}  // namespace partita::execution
