// What a device does in an exchange of packets, done by a thread in host memory.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "device/packet_exchange.hpp"
#include "kernels/host/copy.hpp"

namespace partita::testing {

using FakeWait = std::function<void(const std::function<bool()>&)>;

/// The slots of one exchange, as halves of packets.
class FakeSlots {
 public:
  /// `wait`: until what it is given says so.
  FakeSlots(const devices::PacketSlots& slots, int rank, FakeWait wait)
      : slots_(slots),
        of_ranks_(slots.of_ranks.begin(), slots.of_ranks.end()),
        me_(static_cast<std::size_t>(rank)),
        wait_(std::move(wait)) {}

  std::size_t ranks() const { return of_ranks_.size(); }
  std::size_t me() const { return me_; }
  void begin() {
    number_ = devices::PacketSlots::number_after(slots_.counters[0]);
    if (devices::PacketSlots::renews(number_)) forget_last();
  }
  void end() const { slots_.counters[0] = number_; }

  /// `round`: 0, or 1 for what is passed on.
  void send(std::size_t receiver, std::size_t half, std::uint32_t data, std::size_t round = 0) const {
    at(receiver, me_, half, round).store(data | std::uint64_t{number_} << 32U);
  }
  std::uint32_t await(std::size_t sender, std::size_t half, std::size_t round = 0) const {
    const std::atomic_ref<std::uint64_t> place = at(me_, sender, half, round);
    std::uint64_t seen = place.load();
    const auto has_come = [&] { return seen >> 32U == number_; };
    if (has_come()) return static_cast<std::uint32_t>(seen);
    wait_([&] {
      seen = place.load();
      auto& given_up = const_cast<std::uint64_t&>(*slots_.given_up);
      return has_come() || std::atomic_ref(given_up).load() != 0;
    });
    return static_cast<std::uint32_t>(seen);
  }

 private:
  void forget_last() const {
    const auto bytes = static_cast<std::size_t>(slots_.slot);
    const std::size_t words = ranks() * bytes / sizeof(std::uint64_t);
    auto* const halves = reinterpret_cast<std::uint64_t*>(of_ranks_[me_]);
    std::uint64_t* const last = halves + ((number_ + 1) & 1U) * words;
    for (std::size_t i = 0; i < words; ++i) std::atomic_ref(last[i]).store(0, std::memory_order_relaxed);
  }
  std::atomic_ref<std::uint64_t> at(std::size_t receiver, std::size_t sender, std::size_t half,
                                    std::size_t round) const {
    const auto bytes = static_cast<std::size_t>(slots_.slot);
    const std::size_t slot = (number_ & 1U) * ranks() + sender;
    auto* const halves =
        reinterpret_cast<std::uint64_t*>(of_ranks_[receiver] + slot * bytes + round * bytes / 2);
    return std::atomic_ref<std::uint64_t>(halves[half]);
  }

  devices::PacketSlots slots_;
  std::vector<char*> of_ranks_;
  std::size_t me_;
  FakeWait wait_;
  std::uint32_t number_ = 0;
};

class FakePackets {
 public:
  FakePackets(const devices::PacketExchange& what, FakeWait wait)
      : what_(what), ranges_(*what.ranges), slots_(what.slots, what.rank, std::move(wait)) {}

  void run() {
    slots_.begin();
    const bool has_root = ranges_.root >= 0;
    const std::size_t me = slots_.me(), root = has_root ? static_cast<std::size_t>(ranges_.root) : me;
    for_each_peer([&](std::size_t peer) {
      if (!has_root || me == root)
        give(peer, source() + ranges_.given[peer].offset, ranges_.given[peer].bytes, 0);
    });
    if (has_root) {
      if (me != root) keep(me, take(root, ranges_.taken[me].bytes, 0), false);
    } else {
      take_first_round();
    }
    if (ranges_.passed_on) pass_on(has_root ? root : slots_.ranks());
    slots_.end();
  }

 private:
  const char* source() const { return static_cast<const char*>(what_.source); }
  template <class Visit>
  void for_each_peer(const Visit& visit) const {
    for (std::size_t peer = 0; peer < slots_.ranks(); ++peer) {
      if (peer != slots_.me()) visit(peer);
    }
  }

  void take_first_round() const {
    std::vector<std::vector<char>> come;
    for (std::size_t rank = 0; rank < slots_.ranks(); ++rank) {
      const std::size_t place = ranges_.joined ? slots_.me() : rank;
      come.push_back(rank == slots_.me() ? own() : take(rank, ranges_.taken[place].bytes, 0));
    }
    for (std::size_t rank = 0; rank < slots_.ranks(); ++rank) {
      keep(ranges_.joined ? slots_.me() : rank, come[rank], ranges_.joined && rank > 0);
    }
  }

  /// The root gets no more than a sign, and passes on nothing.
  void pass_on(std::size_t root) const {
    const std::size_t me = slots_.me();
    const char* const mine = static_cast<const char*>(what_.destination) + ranges_.taken[me].offset;
    if (me != root)
      for_each_peer(
          [&](std::size_t peer) { give(peer, mine, peer == root ? 0 : ranges_.taken[me].bytes, 1); });
    for_each_peer([&](std::size_t peer) {
      if (peer != root) keep(peer, take(peer, ranges_.taken[peer].bytes, 1), false);
    });
  }

  void give(std::size_t peer, const char* from, std::int64_t bytes, std::size_t round) const {
    std::vector<std::uint32_t> data(static_cast<std::size_t>(2 * devices::PacketSlots::packets(bytes)));
    if (bytes > 0) std::memcpy(data.data(), from, static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < data.size(); ++i) slots_.send(peer, i, data[i], round);
  }

  std::vector<char> take(std::size_t peer, std::int64_t bytes, std::size_t round) const {
    std::vector<char> come(
        static_cast<std::size_t>(devices::PacketSlots::packets(bytes) * devices::PacketSlots::data_bytes));
    for (std::size_t i = 0; i < come.size() / sizeof(std::uint32_t); ++i) {
      const std::uint32_t word = slots_.await(peer, i, round);
      std::memcpy(come.data() + i * sizeof(word), &word, sizeof(word));
    }
    return come;
  }

  std::vector<char> own() const {
    const devices::ByteRange& parcel = ranges_.given[slots_.me()];
    return {source() + parcel.offset, source() + parcel.offset + parcel.bytes};
  }

  void keep(std::size_t rank, const std::vector<char>& come, bool joins) const {
    const devices::ByteRange& parcel = ranges_.taken[rank];
    if (parcel.bytes == 0) return;
    char* const to = static_cast<char*>(what_.destination) + parcel.offset;
    if (!joins) {
      std::memcpy(to, come.data(), static_cast<std::size_t>(parcel.bytes));
    } else {
      kernels::StridedCopy row;
      row.item_bytes = size_of(ranges_.dtype);
      row.loops = {{parcel.bytes / row.item_bytes, row.item_bytes, row.item_bytes}};
      kernels::accumulate(row, ranges_.dtype, *ranges_.joined, come.data(), to);
    }
  }

  devices::PacketExchange what_;
  devices::ByteExchange ranges_;
  FakeSlots slots_;
};

/// Messages whole, from and to nests.
class FakePacketMoves {
 public:
  FakePacketMoves(const devices::PacketMoves& what, FakeWait wait)
      : what_(what),
        given_(copies_of(what.given)),
        taken_(copies_of(what.taken)),
        kept_(what.kept.begin(), what.kept.end()),
        slots_(what.slots, what.rank, std::move(wait)) {}

  void run() {
    slots_.begin();
    for (const Part& part : given_) give(part);
    for (const kernels::StridedCopy& nest : kept_) {
      kernels::copy(nest, what_.source, what_.destination, kernels::StoreHint::cache);
    }
    for (const Part& part : taken_) take(part);
    slots_.end();
  }

 private:
  struct Part {
    std::size_t peer;
    std::optional<kernels::StridedCopy> nest;
  };
  static std::vector<Part> copies_of(std::span<const devices::PacketPart> parts) {
    std::vector<Part> copies;
    for (const devices::PacketPart& part : parts) {
      copies.push_back({static_cast<std::size_t>(part.peer), std::nullopt});
      if (part.nest != nullptr) copies.back().nest = *part.nest;
    }
    return copies;
  }

  /// visit(number of the unit in the message) of those that the nest has there.
  template <class Visit>
  void for_each_unit(const kernels::StridedCopy& nest, bool is_given, const Visit& visit) const {
    std::int64_t rows = 1;
    for (const kernels::CopyLoop& loop : nest.loops) rows *= loop.count;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t place = is_given ? nest.to_offset : nest.from_offset, rest = row;
      for (std::size_t i = nest.loops.size(); i-- > 0; rest /= nest.loops[i].count) {
        const std::int64_t stride = is_given ? nest.loops[i].to_stride : nest.loops[i].from_stride;
        place += rest % nest.loops[i].count * stride;
      }
      for (std::int64_t byte = 0; byte < nest.item_bytes; byte += what_.unit_bytes) {
        visit((place + byte) / what_.unit_bytes);
      }
    }
  }
  std::vector<char> message(const kernels::StridedCopy& nest, bool is_given) const {
    std::int64_t end = 0;
    for_each_unit(nest, is_given, [&](std::int64_t unit) { end = std::max(end, unit + 1); });
    return std::vector<char>(static_cast<std::size_t>(end * what_.unit_bytes));
  }
  /// visit(half, its bytes in the message) of a unit.
  template <class Visit>
  void for_each_half(std::int64_t unit, char* message, const Visit& visit) const {
    constexpr std::int64_t most = 4;
    const std::int64_t halves = what_.unit_bytes > most ? 2 : 1;
    for (std::int64_t i = 0; i < halves; ++i) {
      visit(static_cast<std::size_t>(unit * halves + i), message + unit * what_.unit_bytes + i * most,
            static_cast<std::size_t>(std::min(what_.unit_bytes, most)));
    }
  }

  void give(const Part& part) const {
    if (!part.nest) {
      for (std::size_t half = 0; half < 2; ++half) slots_.send(part.peer, half, 0);
      return;
    }
    std::vector<char> dense = message(*part.nest, true);
    kernels::copy(*part.nest, what_.source, dense.data(), kernels::StoreHint::cache);
    for_each_unit(*part.nest, true, [&](std::int64_t unit) {
      for_each_half(unit, dense.data(), [&](std::size_t half, const char* bytes, std::size_t count) {
        std::uint32_t data = 0;
        std::memcpy(&data, bytes, count);
        slots_.send(part.peer, half, data);
      });
    });
  }

  void take(const Part& part) const {
    if (!part.nest) {
      (void)slots_.await(part.peer, 0);
      return;
    }
    std::vector<char> dense = message(*part.nest, false);
    for_each_unit(*part.nest, false, [&](std::int64_t unit) {
      for_each_half(unit, dense.data(), [&](std::size_t half, char* bytes, std::size_t count) {
        const std::uint32_t data = slots_.await(part.peer, half);
        std::memcpy(bytes, &data, count);
      });
    });
    kernels::copy(*part.nest, dense.data(), what_.destination, kernels::StoreHint::cache);
  }

  devices::PacketMoves what_;
  std::vector<Part> given_, taken_;
  std::vector<kernels::StridedCopy> kept_;
  FakeSlots slots_;
};

}  // namespace partita::testing
