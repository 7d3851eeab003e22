// How ranks of a node read each other's ordinary memory: the kernel copies it from process to process
// (cross-memory attach, process_vm_readv).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/board/node_board.hpp"

namespace partita::runtime {
struct Runtime;
}

namespace partita::memory {

/// Ranks that are threads read in the same way: memory that a rank has given back is then an error for who
/// still reads it, and never a signal.
class CrossMemory {
 public:
  /// Every rank tries to read a known word of every other rank of its node. Null, on all ranks alike, where
  /// one of them cannot, where no two ranks share a node, and where `ContextOptions::cross_memory` says so.
  /// Collective, blocking.
  static std::unique_ptr<CrossMemory> connect(runtime::Runtime& state);
  /// For the sub-group of these ranks of the context that this belongs to. Local.
  std::unique_ptr<CrossMemory> of_subgroup(const std::vector<int>& ranks) const;

  /// One read of a peer's memory, in as few system calls as the kernel's limits allow. Source addresses are
  /// the peer's, which must have lent them (NodeBoard::lend) and must not withdraw them before it is
  /// notified.
  ///
  /// The data is valid only if the peer's known word was read in the same call and the peer's context has not
  /// failed since: the process number may have been reused, and a rank that has given up may have freed its
  /// memory. Otherwise the context fails: LostPeerError if the peer has ended, or its context failed or was
  /// closed; Error with the kernel's message.
  class Read {
   public:
    Read(const CrossMemory& memory, runtime::Runtime& state, std::string_view operation, int peer);
    void add(const char* from, char* to, std::int64_t bytes);
    void finish();  ///< all has been read

   private:
    static constexpr std::size_t most_runs = 1024;  // UIO_MAXIOV
    static constexpr std::int64_t most_bytes = std::int64_t{16} << 20;

    /// One side of a call, and room for the known word.
    struct Side {
      std::array<iovec, most_runs> runs{};
      std::size_t count = 0;
      bool full() const { return count + 1 == most_runs; }
      void add(char* address, std::size_t bytes);
    };
    void flush();
    void check(std::int64_t got, int error, runtime::Word word);

    const CrossMemory& memory_;
    runtime::Runtime& state_;
    std::string_view operation_;
    int peer_;
    int on_board_;
    std::int64_t bytes_ = 0;
    Side from_, to_;
  };

 private:
  /// Who a rank is, and a word of its memory that no other process has there.
  struct Peer {
    std::int64_t process = 0;  ///< 0: of another node
    std::uint64_t address = 0;
    runtime::Word word = 0;
  };
  explicit CrossMemory(std::vector<Peer> peers) : peers_(std::move(peers)) {}
  static Peer own();
  static std::string try_to_read(const Peer& peer);

  std::vector<Peer> peers_;  // by rank
};

/// Why the kernel prevents processes of one user from reading each other's memory, as far as one process can
/// tell; "" if it does not.
std::string why_no_cross_memory();

}  // namespace partita::memory
