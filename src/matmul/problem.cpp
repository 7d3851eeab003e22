#include "matmul/problem.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.hpp"
#include "matmul/dtypes.hpp"
#include "matmul/roles.hpp"
#include "matmul/vectors.hpp"

namespace partita::multiplication {
namespace {

// Most sets are ranges: no third set has to be made to compare those.
std::int64_t common_indices(const IndexSet& a, const IndexSet& b) {
  if (a.empty() || b.empty() || a.back() < b.front() || b.back() < a.front()) return 0;
  if (a == b) return a.size();
  if (!a.is_range() || !b.is_range()) return intersect(a, b).size();
  return std::min(a.back(), b.back()) - std::max(a.front(), b.front()) + 1;
}

// Holders of one element hold the same, so the smallest indices tell parts apart.
std::vector<int> first_holders(const std::vector<Region>& regions) {
  std::map<std::vector<std::int64_t>, int> first_at;
  std::vector<int> result;
  for (std::size_t rank = 0; rank < regions.size(); ++rank) {
    std::vector<std::int64_t> corner;
    for (const IndexSet& set : regions[rank].sets) corner.push_back(set.empty() ? -1 : set.front());
    result.push_back(first_at.emplace(std::move(corner), static_cast<int>(rank)).first->second);
  }
  return result;
}

void check_shapes(const Operand& a, const Operand& b, const Operand& d) {
  const Shape& sa = a.layout.shape();
  const Shape& sb = b.layout.shape();
  const Shape& sd = d.layout.shape();
  const auto refuse = [&](bool fits, const char* why) {
    check(fits, "cannot multiply op(A) of shape {} by op(B) of shape {} into D of shape {}: {}",
          to_string(sa), to_string(sb), to_string(sd), why);
  };
  refuse(sa.size() >= 2 && sb.size() >= 2 && sd.size() >= 2, "a matrix has at least two dimensions");
  refuse((sa.size() == 2 || sa.size() == sd.size()) && (sb.size() == 2 || sb.size() == sd.size()),
         "A and B must have the leading dimensions of D, or none");
  const int batches = sd.size() - 2;
  for (int i = 0; i < batches; ++i) {
    refuse((sa.size() == 2 || sa[i] == sd[i]) && (sb.size() == 2 || sb[i] == sd[i]),
           "leading dimensions must be equal");
  }
  refuse(sa[sa.size() - 1] == sb[sb.size() - 2],
         "the number of columns of op(A) differs from the number of rows of op(B)");
  refuse(sa[sa.size() - 2] == sd[batches], "the number of rows of op(A) differs from that of D");
  refuse(sb[sb.size() - 1] == sd[batches + 1], "the number of columns of op(B) differs from that of D");
}

void check_like_d(const Operand& operand, const Operand& d, const char* role) {
  check(operand.layout.shape() == d.layout.shape() && operand.dtype == d.dtype,
        "{} is {} of shape {}, but D is {} of shape {}", role, name(operand.dtype),
        to_string(operand.layout.shape()), name(d.dtype), to_string(d.layout.shape()));
}

void check_vector(const std::optional<Operand>& operand, bool wanted, std::int64_t length, Dtype d,
                  Dtype compute, const char* role) {
  check(operand.has_value() == wanted, "this epilogue {} {}", wanted ? "needs a" : "has no", role);
  if (!wanted) return;
  check(operand->layout.shape() == Shape({length}), "the {} has shape {}, but should have {}", role,
        to_string(operand->layout.shape()), length);
  check(operand->dtype == d || operand->dtype == compute, "the {} is {}, but D is {}", role,
        name(operand->dtype), name(d));
}

void check_epilogue(const Problem& problem) {
  const EpilogueParts& parts = problem.epilogue;
  const Dtype d = problem.d.dtype;
  check(!is_complex(d) || (parts.activation == Activation::identity),
        "the activation of this epilogue is not defined for {}", name(d));
  const Epilogue epilogue = problem.options.epilogue;
  check(!is_integer(d) || epilogue == Epilogue::none || epilogue == Epilogue::all_reduce,
        "this epilogue is not defined for {}: only none and all_reduce are", name(d));
  check_vector(problem.bias, parts.bias, problem.m(), d, problem.compute, "bias");
  check_vector(problem.gradient, parts.gradient, parts.gradient_of_b ? problem.n() : problem.m(), d,
               problem.compute, "gradient");
  check(problem.auxiliary.has_value() == parts.auxiliary, "this epilogue {} auxiliary array",
        parts.auxiliary ? "needs an" : "has no");
  if (problem.auxiliary) check_like_d(*problem.auxiliary, problem.d, "the auxiliary array");
  if (!parts.everywhere) return;
  const bool everywhere =
      problem.d.layout.equivalent(Layout(Replicated(), problem.d.layout.shape(), problem.d.layout.ranks()));
  check(everywhere, "all_reduce stores D on every rank, but D is {}", problem.d.layout.to_string());
}

void check_scale(const std::optional<Operand>& scale, Dtype of, std::optional<std::int64_t> length,
                 ScaleMode mode, const char* role, const char* matrix) {
  if (!scale) return;
  check(is_float8(of), "{} is for multiplies of f8e4m3 and f8e5m2, but {} is {}", role, matrix, name(of));
  const Shape& shape = scale->layout.shape();
  const bool scalar = shape.empty() && mode != ScaleMode::outer_vector;
  const bool vector = length && shape == Shape({*length}) && mode != ScaleMode::tensor;
  check(scalar || vector, "{} has shape {}, but should be {}{}{}", role, to_string(shape),
        mode == ScaleMode::outer_vector && length ? "" : "a scalar",
        mode == ScaleMode::automatic && length ? " or of shape " : "",
        mode != ScaleMode::tensor && length ? std::to_string(*length) : "");
  check(scale->dtype == Dtype::f32, "{} is {}, but should be f32", role, name(scale->dtype));
}

void check_scales(const Problem& problem) {
  const ScaleMode mode = problem.options.scale_mode;
  const auto refuse = [&](ScaleMode asked, const char* what) {
    check<UnsupportedError>(mode != asked,
                            "scales of blocks, {}, need a GPU of compute capability 10.0 or later and "
                            "cuBLASLt 12.8 or later, and are not supported yet: supported are tensor and "
                            "outer_vector",
                            what);
  };
  refuse(ScaleMode::block32_ue8m0, "block32_ue8m0 (MXFP8)");
  refuse(ScaleMode::block16_ue4m3, "block16_ue4m3 (NVFP4)");
  check_scale(problem.scale_a, problem.a.dtype, problem.m(), mode, "the scale of A", "A");
  check_scale(problem.scale_b, problem.b.dtype, problem.n(), mode, "the scale of B", "B");
  check_scale(problem.scale_d, problem.d.dtype, {}, ScaleMode::tensor, "the scale of D", "D");
  check_scale(problem.amax_d, problem.a.dtype, {}, ScaleMode::tensor, "the amax of D", "A");
}

void check_groups(const Problem& problem) {
  const int ranks = problem.ranks();
  check(problem.rank >= 0 && problem.rank < ranks, "rank {} is not one of the {} ranks", problem.rank, ranks);
  const auto check_one = [&](const Operand& operand, const char* role) {
    check(operand.layout.ranks() == ranks, "{} is {}, but must be laid out over the {} ranks of the group",
          role, operand.layout.to_string(), ranks);
    const std::optional<Partial> partial = operand.layout.partial();
    check(!partial || partial->reduction == Reduction::sum,
          "{} is a partial {}, but only partial sums can be multiplied", role,
          partial ? name(partial->reduction) : "");
  };
  check_one(problem.a, "A");
  check_one(problem.b, "B");
  if (problem.c) check_one(*problem.c, "C");
  check_one(problem.d, "D");
  if (problem.bias) check_one(*problem.bias, "the bias");
  if (problem.auxiliary) check_one(*problem.auxiliary, "the auxiliary array");
  if (problem.gradient) check_one(*problem.gradient, "the gradient");
  if (problem.scale_a) check_one(*problem.scale_a, "the scale of A");
  if (problem.scale_b) check_one(*problem.scale_b, "the scale of B");
  if (problem.scale_d) check_one(*problem.scale_d, "the scale of D");
  if (problem.amax_d) check_one(*problem.amax_d, "the amax of D");
}

}  // namespace

OwnedRegions::OwnedRegions(const Layout& layout) {
  State state;
  state.regions.reserve(static_cast<std::size_t>(layout.ranks()));
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    state.regions.push_back(layout.region(rank));
    state.elements += state.regions.back().size();
  }
  if (layout.is_replicated() || layout.partial()) state.first = first_holders(state.regions);
  state_ = std::make_shared<const State>(std::move(state));
}

bool covers(const Region& held, const Region& wanted) {
  if (wanted.empty()) return true;
  if (held.empty()) return false;
  for (std::size_t i = 0; i < wanted.sets.size(); ++i) {
    if (common_indices(held.sets[i], wanted.sets[i]) != wanted.sets[i].size()) return false;
  }
  return true;
}

std::int64_t common_size(const Region& a, const Region& b) {
  if (a.sets.size() != b.sets.size()) return 0;  // one of them is nothing
  std::int64_t size = 1;
  for (std::size_t i = 0; i < a.sets.size() && size > 0; ++i) size *= common_indices(a.sets[i], b.sets[i]);
  return size;
}

Index front(const Region& region) {
  Index first;
  for (const IndexSet& set : region.sets) first.push_back(set.front());
  return first;
}

bool holds_front(const Region& held, const Region& piece) {
  for (std::size_t i = 0; i < piece.sets.size(); ++i) {
    if (!held.sets[i].contains(piece.sets[i].front())) return false;
  }
  return true;
}

EpilogueParts parts_of(Epilogue epilogue) {
  EpilogueParts parts;
  const auto any = [epilogue](auto... of) { return ((epilogue == of) || ...); };
  using enum Epilogue;
  if (any(relu, relu_aux, relu_bias, relu_bias_aux)) parts.activation = Activation::relu;
  if (any(gelu, gelu_aux, gelu_bias, gelu_bias_aux)) parts.activation = Activation::gelu;
  if (any(drelu, drelu_bias_gradient)) parts.activation = Activation::drelu;
  if (any(dgelu, dgelu_bias_gradient)) parts.activation = Activation::dgelu;
  parts.bias = any(Epilogue::bias, bias_aux, relu_bias, relu_bias_aux, gelu_bias, gelu_bias_aux);
  parts.writes_auxiliary = any(relu_aux, bias_aux, relu_bias_aux, gelu_aux, gelu_bias_aux);
  const bool reads_auxiliary = any(drelu, drelu_bias_gradient, dgelu, dgelu_bias_gradient);
  parts.auxiliary = parts.writes_auxiliary || reads_auxiliary;
  parts.gradient_of_d = any(drelu_bias_gradient, dgelu_bias_gradient);
  parts.gradient_of_a = any(bias_gradient_a);
  parts.gradient_of_b = any(bias_gradient_b);
  parts.gradient = parts.gradient_of_d || parts.gradient_of_a || parts.gradient_of_b;
  parts.everywhere = any(all_reduce);
  return parts;
}

bool transposes(Op op) {
  return op == Op::transpose || op == Op::conjugate_transpose;
}

bool conjugates(Op op) {
  return op == Op::conjugate || op == Op::conjugate_transpose;
}

std::vector<int> axes_of(Op op, int dimensions) {
  std::vector<int> axes(static_cast<std::size_t>(dimensions));
  std::iota(axes.begin(), axes.end(), 0);
  if (transposes(op) && dimensions >= 2) std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  return axes;
}

Operand op_space(const Operand& operand, Op op) {
  if (!transposes(op)) return operand;
  return operand.permuted(axes_of(op, operand.layout.dimensions()));
}

void check_distribution(const Distribution& wanted, const Layout& d) {
  check(d.distribution() == wanted || d.equivalent(Layout(wanted, d.shape(), d.ranks())),
        "the requested distribution of D is {}, but D is {}", wanted.to_string(), d.to_string());
}

Problem make_problem(const MatmulOperands& given, const Topology& topology, int rank,
                     const MatmulOptions& asked, const Machine& machine, bool in_place) {
  MatmulOperands operands = as_planned(given);
  MatmulOptions options = asked;
  see_as_matrices(operands, options);
  Problem problem{op_space(operands.a, options.op_a),
                  op_space(operands.b, options.op_b),
                  operands.c,
                  operands.d,
                  operands.epilogue.bias,
                  operands.epilogue.auxiliary,
                  operands.epilogue.gradient,
                  operands.epilogue.scale_a,
                  operands.epilogue.scale_b,
                  operands.epilogue.scale_d,
                  operands.epilogue.amax_d,
                  topology,
                  rank,
                  options,
                  machine,
                  in_place};
  problem.conjugate_a = conjugates(options.op_a) && is_complex(operands.a.dtype);
  problem.conjugate_b = conjugates(options.op_b) && is_complex(operands.b.dtype);
  problem.compute = sum_dtype(operands.a.dtype);
  problem.epilogue = parts_of(options.epilogue);
  check_groups(problem);
  check_shapes(problem.a, problem.b, problem.d);
  check_dtypes(problem.a.dtype, problem.b.dtype, problem.d.dtype, options);
  problem.reduced = problem.on_device() ? options.reduce_dtype.value_or(problem.compute) : problem.compute;
  if (problem.c) check_like_d(*problem.c, problem.d, "C");
  check(!in_place || (problem.c && problem.c->layout == problem.d.layout),
        "D in place of C requires a C with the layout of D");
  check(options.memory_limit >= 0, "memory_limit must not be negative, but is {}", options.memory_limit);
  check_epilogue(problem);
  check_scales(problem);
  if (asked.distribution) check_distribution(*asked.distribution, given.d.layout);
  return problem;
}

}  // namespace partita::multiplication
