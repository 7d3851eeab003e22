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

class FakePackets {
 public:
  /// `wait`: until what it is given says so.
  FakePackets(const PacketExchange& what, std::function<void(const std::function<bool()>&)> wait)
      : what_(what),
        given_(what.given.begin(), what.given.end()),
        taken_(what.taken.begin(), what.taken.end()),
        slots_(what.slots.of_ranks.begin(), what.slots.of_ranks.end()),
        wait_(std::move(wait)) {}

  void run() {
    number_ = what_.slots.counters[0] + 1;
    for (std::size_t peer = 0; peer < slots_.size(); ++peer) {
      if (peer != me()) give(peer);
    }
    std::vector<std::vector<char>> come;
    for (std::size_t peer = 0; peer < slots_.size(); ++peer) come.push_back(take(peer));
    for (std::size_t peer = 0; peer < slots_.size(); ++peer) put(peer, come[peer]);
    what_.slots.counters[0] = number_;
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(what_.rank); }
  const char* source() const { return static_cast<const char*>(what_.source); }
  std::uint64_t* slot(std::size_t receiver, std::size_t sender) const {
    const auto slot_bytes =
        static_cast<std::size_t>(PacketSlots::slot_bytes(static_cast<int>(slots_.size())));
    const std::size_t place = (number_ & 1U) * slots_.size() + sender;
    return reinterpret_cast<std::uint64_t*>(slots_[receiver] + place * slot_bytes);
  }

  void give(std::size_t peer) const {
    const Parcel& parcel = given_[peer];
    std::vector<std::uint32_t> data(static_cast<std::size_t>(2 * PacketSlots::packets(parcel.bytes)));
    if (parcel.bytes > 0) {
      std::memcpy(data.data(), source() + parcel.offset, static_cast<std::size_t>(parcel.bytes));
    }
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::atomic_ref(slot(peer, me())[i]).store(data[i] | std::uint64_t{number_} << 32U);
    }
  }

  std::vector<char> take(std::size_t peer) const {
    const std::int64_t bytes = taken_[peer].bytes;
    std::vector<char> come(static_cast<std::size_t>(PacketSlots::packets(bytes) * PacketSlots::data_bytes));
    if (peer == me()) {
      if (bytes > 0)
        std::memcpy(come.data(), source() + given_[peer].offset, static_cast<std::size_t>(bytes));
      return come;
    }
    for (std::size_t i = 0; i < come.size() / sizeof(std::uint32_t); ++i) {
      const std::uint32_t word = await(slot(me(), peer)[i]);
      std::memcpy(come.data() + i * sizeof(word), &word, sizeof(word));
    }
    return come;
  }

  std::uint32_t await(std::uint64_t& half) const {
    std::uint64_t seen = std::atomic_ref(half).load();
    if (seen >> 32U == number_) return static_cast<std::uint32_t>(seen);
    wait_([&] {
      seen = std::atomic_ref(half).load();
      auto& given_up = const_cast<std::uint64_t&>(*what_.slots.given_up);
      return seen >> 32U == number_ || std::atomic_ref(given_up).load() != 0;
    });
    return static_cast<std::uint32_t>(seen);
  }

  void put(std::size_t peer, const std::vector<char>& come) const {
    const Parcel& parcel = taken_[peer];
    if (parcel.bytes == 0) return;
    char* const to = static_cast<char*>(what_.destination) + parcel.offset;
    if (!what_.joined || peer == 0) {
      std::memcpy(to, come.data(), static_cast<std::size_t>(parcel.bytes));
    } else {
      StridedCopy row;
      row.item_bytes = size_of(what_.dtype);
      row.loops = {{parcel.bytes / row.item_bytes, row.item_bytes, row.item_bytes}};
      accumulate(row, what_.dtype, *what_.joined, come.data(), to);
    }
  }

  PacketExchange what_;
  std::vector<Parcel> given_, taken_;
  std::vector<char*> slots_;
  std::function<void(const std::function<bool()>&)> wait_;
  std::uint32_t number_ = 0;
};

}  // namespace partita::testing
