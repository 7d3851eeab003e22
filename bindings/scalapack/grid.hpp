// BLACS grids, each with a Partita context on its processes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <partita/context.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "arguments.hpp"
#include "threshold.hpp"
#include "trial.hpp"

namespace partita::scalapack {

/// Lives as long as the BLACS context: it hangs on the context's communicator as an MPI attribute, so that a
/// context of the same number that is made later is another grid. A process's rank in the Partita context is
/// its number in the grid, row by row. Not thread-safe, as BLACS is not.
class Grid {
 public:
  /// The grid of a BLACS context that this process is in. Local: no communication.
  static Grid& of(int blacs_context, const Coordinates& coordinates);

  explicit Grid(MPI_Comm communicator, const Coordinates& coordinates)
      : communicator_(communicator), coordinates_(coordinates) {}

  const Coordinates& coordinates() const { return coordinates_; }
  int processes() const { return coordinates_.rows * coordinates_.columns; }
  int rank() const { return coordinates_.row * coordinates_.columns + coordinates_.column; }
  MPI_Comm communicator() const { return communicator_; }

  /// Collective over the grid at its first call; local afterwards.
  const Context& context();
  /// On GPUs. Throws UnsupportedError if a process has none.
  const Context& devices();

  SeenCalls& seen_calls() { return seen_calls_; }
  Trials& product_trials() { return product_trials_; }
  /// Whether products of a kind (CallKey) go to GPUs, as far as that has been asked.
  std::unordered_map<std::uint64_t, bool>& devices_chosen() { return devices_chosen_; }

  /// Every process's numbers, as many from each, in the order of ranks. Collective over the grid.
  std::vector<std::int64_t> gather(std::span<const std::int64_t> mine);

  /// The ranks that the processes of `inner` have in this grid, in the order of `inner`. Every process of
  /// `inner` must be in this grid. Local.
  std::vector<int> ranks_of(const Grid& inner) const;

 private:
  Context started(const Device& device) const;

  MPI_Comm communicator_;
  Coordinates coordinates_;
  std::optional<Context> context_;
  std::optional<Context> devices_;
  SeenCalls seen_calls_;
  Trials product_trials_;
  std::unordered_map<std::uint64_t, bool> devices_chosen_;
  /// Of gather.
  struct Exchange;
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace partita::scalapack
