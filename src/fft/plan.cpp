// Distributed transforms: stages of local transforms with the array changing hands in between.
//
// A transform over several axes is the product of transforms along each, in any order (but that the halved
// axis comes first from real numbers and last to them). Every stage transforms the axes along which its
// layout owns whole lines; `candidates` lists the sequences of layouts, `choose` prices them, and `Walk`
// writes the steps.
#include "base/check.hpp"
#include "fft/four_step.hpp"
#include "fft/layouts.hpp"
#include "fft/real_line.hpp"
#include "fft/walk.hpp"

namespace partita {

namespace {

using namespace fourier;

Layout as_input(const Problem& problem) {
  const Layout& layout = problem.input.layout;
  check(!layout.partial(),
        "the input ({}) is partial, so the result cannot be distributed as it is: give a distribution",
        layout.to_string());
  const int halved = problem.halved_axis();
  return halved < 0 ? layout : with_extent(layout, halved, problem.shape[halved]);
}

void check_output(const Problem& problem, const Operand& output, bool in_place) {
  const Layout& layout = output.layout;
  check(layout.shape() == problem.shape, "the result of this transform has shape {}, but the output is {}",
        to_string(problem.shape), layout.to_string());
  check(output.dtype == problem.dtype, "the result of this transform is {}, but the output is {}",
        name(problem.dtype), name(output.dtype));
  check(layout.ranks() == problem.topology.ranks(), "the output {} must be laid out over the {} ranks",
        layout.to_string(), problem.topology.ranks());
  check(!layout.partial(), "the output ({}) is partial: a transform gives whole values", layout.to_string());
  check<UnsupportedError>(output.space == MemorySpace::host,
                          "transforms of device memory are not offered by this build");
  if (!in_place) return;
  check(output.dtype == problem.input.dtype && output.axis_order == problem.input.axis_order &&
            output.dense == problem.input.dense && same(layout, problem.input.layout),
        "in place, input ({}) and output ({}) must be the same array", problem.input.to_string(),
        output.to_string());
}

}  // namespace

Layout result_layout(const Operand& input, const Topology& topology, const FftOptions& options,
                     const Machine& machine) {
  const Problem problem = make_problem(input, topology, options, machine);
  if (options.output == Output::as_input) return as_input(problem);
  if (options.output == Output::cheapest) return choose(problem, std::nullopt).result();
  check(options.distribution.has_value(), "output \"given\" needs a distribution");
  Layout given(*options.distribution, problem.shape, topology.ranks());
  check(!given.partial(), "the output ({}) is partial: a transform gives whole values", given.to_string());
  return given;
}

Plan plan_fft(const Operand& input, const Operand& output, const Topology& topology, int rank,
              const FftOptions& options, const Machine& machine, bool in_place) {
  const Problem problem = make_problem(input, topology, options, machine);
  check(rank >= 0 && rank < topology.ranks(), "rank {} is not one of the {} ranks", rank, topology.ranks());
  check_output(problem, output, in_place);
  const Scheme scheme = choose(problem, output.layout);
  Plan plan{"fft", scheme.name, scheme.reason, rank, topology, {}, {}};
  Steps steps(plan);
  steps.add_operand("input", input);
  steps.add_operand("output", output);
  if (scheme.factors) {
    if (problem.halved_axis() >= 0) {
      walk_real_line(steps, problem, *scheme.factors);
    } else {
      walk_four_step(steps, problem, *scheme.factors, in_place ? 1 : 0, 1);
    }
    steps.settle();
  } else {
    Walk(steps, problem, in_place).run(scheme);
  }
  return plan;
}

}  // namespace partita
