// transformer: a language model learns to write like a book.
#include <CLI/CLI.hpp>
#include <iostream>

#include "transformer/program.hpp"

int main(int count, char** words) {
  transformer::Program program;
  transformer::Settings& settings = program.settings;
  int dry_run = 0;
  std::string machine, device = "cpu", dtype;
  CLI::App options("A language model of bytes, trained on all ranks of its launcher");
  const auto number = [&](const char* name, auto& value, const char* what) {
    return options.add_option(name, value, what)->capture_default_str();
  };
  options.add_option("--text", program.text, "file to learn (data/devils-dictionary.txt, else the GPL)");
  number("--layers", settings.layers, "blocks of attention and perceptron");
  number("--heads", settings.heads, "of attention");
  number("--hidden", settings.hidden, "features of a token");
  number("--sequence", settings.sequence, "tokens that are seen at once");
  number("--batch", settings.batch, "sequences of a step, over all ranks");
  number("--seed", settings.seed, "of weights and batches");
  number("--learning-rate", settings.learning_rate, "of Adam");
  number("--warm-up", settings.warm_up, "steps in which it grows to that");
  number("--data", program.data, "ranks along the mesh axis \"data\"; the others are along \"tensor\"");
  number("--steps", program.steps, "");
  number("--look-every", program.look_every, "steps from checkpoint to checkpoint");
  options.add_flag("!--no-checkpoint", program.checkpoint, "write none: of a large model it is large, too");
  options.add_flag("--trace", program.trace, "record the last step in trace.json");
  options.add_option("--restart", program.restart, "checkpoint to go on from");
  number("--sample", program.sample.length, "bytes to write at the end");
  number("--prompt", program.sample.prompt, "what they follow");
  number("--temperature", program.sample.temperature, "of the choice; 0: always the likeliest byte");
  number("--sample-seed", program.sample.seed, "of the choice");
  number("--device", device, "where it computes: cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  options.add_option("--dtype", dtype, "of weights and activations: bf16 (cuda), f32 (cpu) or f64");
  options.add_option("--dry-run", dry_run, "only say what a step would take on so many ranks");
  options.add_option("--machine", machine,
                     "of a dry run: name or file ($PARTITA_MACHINE, else laptop, of GPUs node-8-gpu)");
  number("-o,--output", program.output, "folder of what it writes");
  CLI11_PARSE(options, count, words);
  try {
    const partita::Device where = device == "cuda" ? partita::Device::cuda() : partita::Device::cpu();
    settings.dtype = dtype.empty() ? transformer::usual_dtype(where) : partita::parse_dtype(dtype);
    if (dry_run > 0) {
      transformer::dry_run(program, dry_run, machine, where);
      return 0;
    }
    const partita::Context context = partita::initialize({.device = where});
    transformer::run(context, program);
  } catch (const std::exception& error) {
    std::cerr << "transformer: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
