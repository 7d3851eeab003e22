// The whole program: an ocean from its beginning on, with its pictures and its books.
#pragma once

#include <partita/partita.hpp>
#include <string>

#include "shallow_water/ocean.hpp"

namespace shallow_water {

/// What is asked for on the command line.
struct Program {
  Settings settings = {};
  std::string distribution = {};  ///< of [3, rows, columns], as text; empty: squares
  std::int64_t steps = 1000;
  std::int64_t look_every = 100;  ///< steps from one line of budget.txt, and picture, to the next
  bool snapshots = false;         ///< the state as state-STEP.npy, too
  bool checkpoints = false;       ///< checkpoint.h5, of fields and rates
  bool restart = false;           ///< from the checkpoint in the folder
  bool trace = false;             ///< one step more is recorded at the end: trace.json in the folder
  std::string animation = {};     ///< a GIF file with a frame a look; empty: none
  std::string output = "output";  ///< folder
};

/// In f32, as mpi4jax's demo. Prints a line a look, from rank 0. Throws Error where mass is lost, or a sum is
/// no number. Collective.
void run(const partita::Context& context, const Program& program);

}  // namespace shallow_water
