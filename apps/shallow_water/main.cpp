// shallow-water: a jet on a rotating plane becomes unstable.
#include <CLI/CLI.hpp>
#include <iostream>

#include "shallow_water/program.hpp"

int main(int count, char** words) {
  shallow_water::Program program;
  CLI::App options("Shallow-water ocean model, on all ranks of its launcher");
  options.add_option("--rows", program.settings.rows, "cells along y")->capture_default_str();
  options.add_option("--columns", program.settings.columns, "cells along x")->capture_default_str();
  options.add_option("--spacing", program.settings.spacing, "size of a cell in metres")
      ->capture_default_str();
  options.add_option("--steps", program.steps, "number of steps")->capture_default_str();
  options.add_option("--look-every", program.look_every, "number of steps between pictures")
      ->capture_default_str();
  options.add_option("--distribution", program.distribution,
                     "distribution of [3, rows, columns], such as slab:1");
  options.add_flag("--snapshots", program.snapshots, "write the state with each picture");
  options.add_flag("--checkpoints", program.checkpoints, "write checkpoint.h5 with each picture");
  options.add_flag("--restart", program.restart, "continue from the checkpoint in the folder");
  options.add_flag("--trace", program.trace, "record one additional step, for Perfetto");
  options.add_option("--animation", program.animation, "write the pictures as an animated GIF to this file");
  options.add_option("-o,--output", program.output, "output folder")->capture_default_str();
  std::string device = "cpu";
  options.add_option("--device", device, "device to compute on")
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
