// shallow-water: a jet on a rotating plane becomes unstable.
#include <CLI/CLI.hpp>
#include <iostream>

#include "shallow_water/program.hpp"

int main(int count, char** words) {
  shallow_water::Program program;
  CLI::App options("An ocean of shallow water, on all ranks of its launcher");
  options.add_option("--rows", program.settings.rows, "cells along y")->capture_default_str();
  options.add_option("--columns", program.settings.columns, "cells along x")->capture_default_str();
  options.add_option("--spacing", program.settings.spacing, "of cells, in metres")->capture_default_str();
  options.add_option("--steps", program.steps, "")->capture_default_str();
  options.add_option("--look-every", program.look_every, "steps from picture to picture")
      ->capture_default_str();
  options.add_option("--distribution", program.distribution, "of [3, rows, columns], such as slab:1");
  options.add_flag("--snapshots", program.snapshots, "write the state with each picture");
  options.add_flag("--checkpoints", program.checkpoints, "write checkpoint.h5 with each picture");
  options.add_flag("--restart", program.restart, "go on from the folder's checkpoint");
  options.add_flag("--trace", program.trace, "record one step more, for Perfetto");
  options.add_option("--animation", program.animation, "a GIF of the pictures, into this file");
  options.add_option("-o,--output", program.output, "folder of what it writes")->capture_default_str();
  std::string device = "cpu";
  options.add_option("--device", device, "where it computes")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  CLI11_PARSE(options, count, words);
  try {
    const partita::Context context =
        partita::initialize({.device = device == "cuda" ? partita::Device::cuda() : partita::Device::cpu()});
    shallow_water::run(context, program);
  } catch (const std::exception& error) {
    std::cerr << "shallow-water: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
