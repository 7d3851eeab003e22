#include "memory/cross_memory.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "runtime/board/peer_watch.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/runtime.hpp"

namespace partita::memory {
namespace {

/// ThreadSanitizer knows no fences; what is ordered here is another process's, which it does not see anyway.
void order_reads() {
#ifdef __SANITIZE_THREAD__
  std::atomic_signal_fence(std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

constexpr std::string_view connecting = "read ordinary memory within the node";

runtime::Word random_word() {
  std::random_device device;
  return (static_cast<runtime::Word>(device()) << 32U) | device();
}

// For as long as the process lives, so that what a peer knows of it outlives contexts.
const runtime::Word& known_word() {
  static const runtime::Word word = random_word();
  return word;
}

iovec run_of(std::uint64_t address, std::size_t bytes) {
  return {reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr): of another process
}

// The descendants of a process may always read it, so without Yama, or where it is off, nothing is to be
// said.
void let_others_read() {
#ifdef PR_SET_PTRACER
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

}  // namespace

CrossMemory::Peer CrossMemory::own() {
  const runtime::Word& word = known_word();
  return {::getpid(), reinterpret_cast<std::uint64_t>(&word), word};
}

std::string CrossMemory::try_to_read(const Peer& peer) {
  runtime::Word word = 0;
  const iovec to{&word, sizeof(word)}, from = run_of(peer.address, sizeof(word));
  const auto got = ::process_vm_readv(static_cast<pid_t>(peer.process), &to, 1, &from, 1, 0);
  if (got < 0) return std::strerror(errno);
  return word == peer.word ? "" : "the ranks are in different PID namespaces";
}

std::unique_ptr<CrossMemory> CrossMemory::connect(runtime::Runtime& state) {
  const Topology& topology = state.topology();
  if (state.options.cross_memory == ::partita::CrossMemory::off) return nullptr;
  if (topology.node_count() == topology.ranks()) return nullptr;
  if (state.options.cross_memory == ::partita::CrossMemory::allow) let_others_read();
  std::vector<Peer> peers = runtime::exchange_values(state, connecting, own());
  bool can = true;
  for (int rank = 0; rank < topology.ranks(); ++rank) {
    Peer& peer = peers[static_cast<std::size_t>(rank)];
    if (!topology.same_node(rank, state.rank())) {
      peer = {};
      continue;
    }
    const std::string refused = try_to_read(peer);
    if (refused.empty()) continue;
    can = false;
    state.log->info(
        fmt::format("ordinary memory is copied through shared buffers: rank {} cannot read the memory of "
                    "rank {}: {}",
                    state.rank(), rank, refused));
  }
  const std::vector<int> all = runtime::exchange_values(state, connecting, can ? 1 : 0);
  if (std::ranges::min(all) == 0) return nullptr;
  return std::unique_ptr<CrossMemory>(new CrossMemory(std::move(peers)));
}

std::unique_ptr<CrossMemory> CrossMemory::of_subgroup(const std::vector<int>& ranks) const {
  std::vector<Peer> peers;
  for (const int rank : ranks) peers.push_back(peers_.at(static_cast<std::size_t>(rank)));
  return std::unique_ptr<CrossMemory>(new CrossMemory(std::move(peers)));
}

// --- Read

CrossMemory::Read::Read(const CrossMemory& memory, runtime::Runtime& state, std::string_view operation,
                        int peer)
    : memory_(memory),
      state_(state),
      operation_(operation),
      peer_(peer),
      on_board_(runtime::number_on_board(state, peer).value()) {}

void CrossMemory::Read::Side::add(char* address, std::size_t bytes) {
  if (count > 0) {
    iovec& last = runs[count - 1];
    if (static_cast<char*>(last.iov_base) + last.iov_len == address) {
      last.iov_len += bytes;
      return;
    }
  }
  runs[count++] = {address, bytes};
}

void CrossMemory::Read::add(const char* from, char* to, std::int64_t bytes) {
  while (bytes > 0) {
    const std::int64_t part = std::min(bytes, most_bytes - bytes_);
    from_.add(const_cast<char*>(from), static_cast<std::size_t>(part));
    to_.add(to, static_cast<std::size_t>(part));
    bytes_ += part;
    if (bytes_ == most_bytes || from_.full() || to_.full()) flush();
    from += part;
    to += part;
    bytes -= part;
  }
}

void CrossMemory::Read::finish() {
  if (bytes_ > 0) flush();
}

void CrossMemory::Read::flush() {
  const Peer& peer = memory_.peers_[static_cast<std::size_t>(peer_)];
  runtime::Word word = 0;
  from_.runs[from_.count++] = run_of(peer.address, sizeof(word));
  to_.runs[to_.count++] = {&word, sizeof(word)};
  const auto got = ::process_vm_readv(static_cast<pid_t>(peer.process), to_.runs.data(), to_.count,
                                      from_.runs.data(), from_.count, 0);
  check(got, errno, word);
  bytes_ = 0;
  from_.count = to_.count = 0;
}

void CrossMemory::Read::check(std::int64_t got, int error, runtime::Word word) {
  order_reads();  // what has been read is older than what is said now
  const Peer& peer = memory_.peers_[static_cast<std::size_t>(peer_)];
  const runtime::NodeBoard::Status status = state_.board->status(on_board_);
  if (status.failed) runtime::refuse_failed_neighbours(state_, operation_);
  const bool whole = got == bytes_ + static_cast<std::int64_t>(sizeof(word));
  if (whole && word == peer.word && !status.left) return;
  const std::string who = fmt::format("rank {} (process {})", peer_, peer.process);
  if (whole || (got < 0 && error == ESRCH)) {
    const std::string how = state_.board->departure(on_board_);
    state_.give_up(
        {runtime::ErrorKind::lost_peer, fmt::format("{}: {} {} while rank {} read its memory", operation_,
                                                    who, how.empty() ? "has ended" : how, state_.rank())});
  }
  // Some of it has arrived: what follows cannot be read.
  state_.give_up({runtime::ErrorKind::error,
                  fmt::format("{}: rank {} cannot read the memory of {}: {} (process_vm_readv)", operation_,
                              state_.rank(), who, std::strerror(got < 0 ? error : EFAULT))});
}

std::string why_no_cross_memory() {
  runtime::Word word = 0;
  const iovec to{&word, sizeof(word)};
  const iovec from = run_of(reinterpret_cast<std::uint64_t>(&known_word()), sizeof(word));
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) < 0) return std::strerror(errno);
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 0 || (scope < 3 && ::geteuid() == 0)) return "";
  return fmt::format("Yama forbids access between processes (kernel.yama.ptrace_scope is {}){}", scope,
                     scope == 1 ? "; set PARTITA_CROSS_MEMORY=allow to permit it" : "");
}

}  // namespace partita::memory
