#include "tools/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "tools/command_line.hpp"

namespace partita::tools {
namespace {

Shape factor(const Question& question, Op op, int row, int column) {
  const Shape& shape = question.shape;
  if (shape.size() != 3)
    throw UsageError(fmt::format("--shape {}: m x n x k of a multiply", to_string(shape)));
  if (transposes(op)) std::swap(row, column);
  return {shape[row], shape[column]};
}

}  // namespace

int Question::ranks_or(int otherwise) const {
  int named = 0;
  for (const auto& distribution : {from, to, product.distribution}) {
    if (distribution) named = std::max(named, ranks_named_by(*distribution));
  }
  return ranks > 0 ? ranks : named > 0 ? named : otherwise;
}

Operand Question::operand(const Distribution& distribution, const Shape& extents, Dtype element,
                          int of_ranks) const {
  Operand result =
      Operand::of(Layout(distribution, extents, of_ranks), element, Order::row_major, residency());
  if (on_gpu) result.space = MemorySpace::device;
  return result;
}

std::string Question::machine_name() const {
  const bool usual = machine.empty() && on_gpu && std::getenv("PARTITA_MACHINE") == nullptr;
  return usual ? "node-8-gpu" : machine;
}

RedistributeOptions Question::redistribute_options() const {
  return {.axes = axes, .method = redistribute_methods.parse(method)};
}

MatmulOptions Question::matmul_options() const {
  MatmulOptions options = product;
  options.method = matmul_methods.parse(method);
  return options;
}

bool Question::factorizes() const {
  return operation == Operation::cholesky || operation == Operation::lu || operation == Operation::qr;
}

bool Question::is_linear() const {
  return factorizes() || operation == Operation::solve;
}

Factorization Question::factorization() const {
  const bool chosen = method == "automatic";
  if (factorizes() && !chosen)
    throw UsageError(fmt::format("--method {}: {} has one algorithm", method, operations.of(operation)));
  if (operation == Operation::solve) return chosen ? Factorization::lu : factorizations.parse(method);
  return factorizations.parse(operations.of(operation));
}

FftOptions Question::fft_options() const {
  FftOptions options;
  options.kind = usual_kind(dtype_or_usual());
  options.axes = axes;
  options.method = fft_methods.parse(method);
  options.output = to ? Output::given : Output::cheapest;
  options.distribution = to;
  return options;
}

Dtype Question::dtype_or_usual() const {
  return dtype.value_or(operation == Operation::fft ? Dtype::c128 : Dtype::f64);
}

void Question::check_distributions() const {
  if (to && factorizes())
    throw UsageError(fmt::format("{} has one distribution, that of the matrix", operations.of(operation)));
  const bool needs_both = operation == Operation::redistribute || operation == Operation::matmul;
  if (!to && needs_both)
    throw UsageError(fmt::format("{} needs two distributions", operations.of(operation)));
}

Shape Question::destination_shape() const {
  if (axes.empty()) return shape;
  Shape result;
  for (const int axis : axes) {
    if (axis >= shape.size() || axes.size() != static_cast<std::size_t>(shape.size()))
      throw UsageError(fmt::format("--axes {} is not an order of the {} axes of {}: see axis {}",
                                   fmt::join(axes, ","), shape.size(), to_string(shape), axis));
    result.push_back(shape[axis]);
  }
  return result;
}

Shape Question::shape_of_a() const {
  return factor(*this, product.op_a, 0, 2);
}

Shape Question::shape_of_b() const {
  return factor(*this, product.op_b, 2, 1);
}

Operand Question::matrix(int of_ranks) const {
  const int most = operation == Operation::solve ? 3 : 2;
  if (shape.size() < 2 || shape.size() > most)
    throw UsageError(fmt::format("--shape {}: m x n of a matrix{}", to_string(shape),
                                 most > 2 ? ", then the number of right-hand sides" : ""));
  return operand(*from, {shape[0], shape[1]}, dtype_or_usual(), of_ranks);
}

Operand Question::right_hand_sides(int of_ranks, bool of_b) const {
  if (product.op_b != Op::none) throw UsageError("--op of a solve: the second letter, of B, must be n");
  const bool as_rows = of_b != transposes(product.op_a);
  const std::int64_t count = shape.size() > 2 ? shape[2] : 1;
  return operand(to.value_or(Slab(0)), {shape[as_rows ? 0 : 1], count}, dtype_or_usual(), of_ranks);
}

void describe(Subcommand& command, Question& question) {
  command.shape(question.shape,
                "global shape of the source; m x n x k for a multiply, or a matrix and right-hand sides");
  command.number("-n,--ranks", question.ranks, 1, "ranks (those of the distributions, or up to 4)");
  command.dtype(question.dtype, "element type (f64; c128 for a transform)");
  command.axes(question.axes, "permutation for a redistribution; axes to transform for an FFT");
  command
      .word("--method", question.method, "the algorithm (chosen); for a solve the factorization (lu)", "NAME")
      .offers(redistribute_methods.list());
  command.op(question.product, "for a multiply or a solve: op(A) and op(B), as in nt (nn)");
  command.factorization(question.factors);
  command.distribution("--result", question.product.distribution,
                       "for a multiply: distribution of D (the cheapest)", "DISTRIBUTION");
  command.reduce_dtype(question.product);
  command.flag("--ordinary", question.ordinary, "arrays in ordinary memory, not on the symmetric heap");
  command.device(question.on_gpu, "device of the ranks (cpu); for cuda the default machine is node-8-gpu");
  command.machine(question.machine, "machine of the prediction ($PARTITA_MACHINE, or laptop)");
}

}  // namespace partita::tools
