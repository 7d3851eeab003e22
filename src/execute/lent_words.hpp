// What ranks tell each other before each execution of a plan, without messages.
#pragma once

#include <cstdint>
#include <partita/fact.hpp>
#include <partita/plan.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "execute/host/scratch.hpp"

namespace partita::runtime {
class Rendezvous;
}

namespace partita::execution {

/// So many words of each rank, in shared memory: between nodes they go as messages.
class LentWords {
 public:
  /// Collective, blocking. `plan` must outlive it.
  LentWords(ContextState& context, const Plan& plan, std::size_t words);

  /// This rank's, to be set before `exchange`.
  std::span<std::uint64_t> mine() { return mine_; }
  /// A check of all ranks, which wait until each has come to it. If some of them come to another one or with
  /// another plan, or have executed something else before, all throw: nobody reads at the offsets of its plan
  /// what a peer has lent for another one. Collective, blocking.
  void exchange();
  /// Of that rank, in the latest exchange.
  std::span<const std::uint64_t> of(int rank) const {
    return std::span(all_).subspan(static_cast<std::size_t>(rank) * mine_.size(), mine_.size());
  }

 private:
  std::uint64_t* place(int rank, std::uint64_t number) const;
  void offer(std::uint64_t number, std::uint64_t alike);
  bool all_come(const runtime::Rendezvous& rendezvous, std::uint64_t number) const;
  bool read_all(std::uint64_t number, std::uint64_t alike);

  ContextState& context_;
  std::string_view operation_;
  std::vector<Fact> facts_;  // what all ranks must have alike
  bool is_one_node_;
  std::vector<std::uint64_t> mine_, all_;
  Scratch shared_;
};

}  // namespace partita::execution
