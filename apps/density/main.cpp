// density: structure grows in a box of cold matter.
#include <CLI/CLI.hpp>
#include <iostream>

#include "density/program.hpp"

int main(int count, char** words) {
  density::Program program;
  CLI::App options("A particle-mesh universe, on all ranks of its launcher");
  options.add_option("--box", program.settings.box, "Mpc/h along each dimension")->capture_default_str();
  options.add_option("--cells", program.settings.cells, "of the mesh, likewise")->capture_default_str();
  options.add_option("--particles", program.settings.particles, "likewise")->capture_default_str();
  options.add_option("--seed", program.settings.seed, "of the field")->capture_default_str();
  options.add_option("--from", program.settings.redshift, "redshift of the beginning")->capture_default_str();
  options.add_option("--to", program.redshift, "redshift of the end")->capture_default_str();
  options.add_option("--steps", program.steps, "in between")->capture_default_str();
  options.add_option("-o,--output", program.output, "folder of what it writes")->capture_default_str();
  options.add_option("--checkpoint-every", program.checkpoint_every, "steps; 0: never")
      ->capture_default_str();
  options.add_flag("--trace", program.trace, "record the last step, for Perfetto");
  options.add_flag("--restart", program.restart, "go on from the folder's checkpoint");
  std::string device = "cpu";
  options.add_option("--device", device, "where it computes")
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
