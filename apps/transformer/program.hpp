// The whole program: training on a text, with its book, its picture, its checkpoints and a sample; or what
// all that would take elsewhere.
#pragma once

#include <partita/partita.hpp>
#include <string>

#include "transformer/sample.hpp"
#include "transformer/settings.hpp"

namespace transformer {

/// What is asked for on the command line.
struct Program {
  Settings settings = {};
  int data = 1;           ///< ranks along "data"; the others are along "tensor"
  std::string text = {};  ///< file; empty: `usual_text`
  std::int64_t steps = 300;
  std::int64_t look_every = 50;   ///< steps from line to line, and from checkpoint to checkpoint
  bool checkpoint = true;         ///< written at every look
  bool trace = false;             ///< the last step as trace.json, too
  std::string restart = {};       ///< checkpoint to continue from
  std::string output = "output";  ///< folder
  SampleOptions sample = {};
};

/// On the context's device, if it has one. Prints a line a look, from rank 0. Throws MemoryError beforehand
/// where the model does not fit. Collective.
void run(const partita::Context& context, const Program& program);

/// Prints what a step would move and take on so many ranks, on CPUs or with a GPU each, of a machine (empty:
/// the usual one). Throws ArgumentError as `checked`. Local.
void dry_run(const Program& program, int ranks, const std::string& machine, const partita::Device& device);

}  // namespace transformer
