// The whole program: a universe from beginning to end, with its pictures, tables and checkpoints.
#pragma once

#include <partita/partita.hpp>
#include <string>

#include "density/universe.hpp"

namespace density {

/// What is asked for on the command line.
struct Program {
  Settings settings = {};
  double redshift = 0;            ///< at which it ends
  int steps = 40;                 ///< from the beginning to the end, evenly in the logarithm of a
  std::string output = "output";  ///< folder of density.png, power.txt and checkpoint.h5
  int checkpoint_every = 0;       ///< steps; 0: none is written
  bool trace = false;             ///< the last step is recorded: trace.json in the folder
  bool restart = false;           ///< from the checkpoint in the folder
};

/// Prints a line a step, from rank 0. Throws Error where mass is lost, or momentum found. Collective.
void run(const partita::Context& context, const Program& program);

/// The mass along the last dimension, on a logarithmic scale. Collective; rank 0 writes it.
void draw(const partita::Context& context, const Mesh& mesh, const std::string& path);

}  // namespace density
