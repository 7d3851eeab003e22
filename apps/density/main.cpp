// density: structure grows in a box of cold matter.
#include <CLI/CLI.hpp>
#include <iostream>

#include "density/program.hpp"

int main(int count, char** words) {
  density::Program program;
  CLI::App options("Cosmological particle-mesh N-body simulation, on all ranks of its launcher");
  options.add_option("--box", program.settings.box, "Mpc/h along each dimension")->capture_default_str();
  options.add_option("--cells", program.settings.cells, "mesh cells along each dimension")
      ->capture_default_str();
  options.add_option("--particles", program.settings.particles, "particles along each dimension")
      ->capture_default_str();
  options.add_option("--seed", program.settings.seed, "seed of the initial field")->capture_default_str();
  options.add_option("--from", program.settings.redshift, "initial redshift")->capture_default_str();
  options.add_option("--to", program.redshift, "final redshift")->capture_default_str();
  options.add_option("--steps", program.steps, "number of steps")->capture_default_str();
  options.add_option("-o,--output", program.output, "output folder")->capture_default_str();
  options.add_option("--checkpoint-every", program.checkpoint_every, "steps between checkpoints; 0: never")
      ->capture_default_str();
  options.add_flag("--trace", program.trace, "record the last step, for Perfetto");
  options.add_flag("--restart", program.restart, "continue from the checkpoint in the folder");
  std::string device = "cpu";
  options.add_option("--device", device, "device to compute on")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  CLI11_PARSE(options, count, words);
  try {
    const partita::Context context =
        partita::initialize({.device = device == "cuda" ? partita::Device::cuda() : partita::Device::cpu()});
    density::run(context, program);
  } catch (const std::exception& error) {
    std::cerr << "density: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
