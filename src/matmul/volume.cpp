#include <partita/matmul.hpp>
#include <set>
#include <tuple>

#include "base/check.hpp"
#include "matmul/grid_search.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

struct Reads {
  std::vector<Part> operator()(const Multiply& work) const {
    if (work.beta == Beta::zero) return {work.a, work.b};
    return {work.a, work.b, work.to};
  }
  std::vector<Part> operator()(const ApplyEpilogue& work) const {
    std::vector<Part> parts{work.from};
    if (work.has_c) parts.push_back(work.c);
    if (work.has_bias) parts.push_back(work.bias);
    const bool reads_auxiliary = work.activation == Activation::drelu || work.activation == Activation::dgelu;
    if (work.has_auxiliary && reads_auxiliary) parts.push_back(work.auxiliary);
    return parts;
  }
  std::vector<Part> operator()(const SumAlong& work) const { return {work.from}; }
  std::vector<Part> operator()(const Transform& work) const { return {work.from}; }
  std::vector<Part> operator()(const Twiddle& work) const { return {work.part}; }
};

/// The parts that a work reads.
std::vector<Part> read_by(const Work& work) {
  return std::visit(Reads{}, work);
}

/// Elements that come in from other ranks. What works read in place again and again is counted once.
class Incoming {
 public:
  explicit Incoming(const Plan& plan) : plan_(plan) {}

  std::int64_t elements() {
    for (const Step& step : plan_.steps) add(step);
    return elements_;
  }

 private:
  void add(const Step& step) {
    if (step.kind == StepKind::copy || step.kind == StepKind::accumulate) {
      if (step.from.rank != plan_.rank || step.to.rank != plan_.rank) elements_ += step.region.size();
    } else if (step.kind == StepKind::receive) {
      elements_ += step.bytes / size_of(dtype_at(plan_, step.to));
    } else if (step.kind == StepKind::compute) {
      for (const Part& part : read_by(work_of(plan_, step))) add(part);
    }
  }
  void add(const Part& part) {
    if (part.place.rank == plan_.rank) return;
    const bool fresh =
        seen_.emplace(part.place.buffer, part.place.rank, part.place.offset, to_string(part.region)).second;
    if (fresh) elements_ += part.region.size();
  }

  const Plan& plan_;
  std::set<std::tuple<int, int, std::int64_t, std::string>> seen_;
  std::int64_t elements_ = 0;
};

}  // namespace

MatmulVolume matmul_volume(const Plan& plan) {
  MatmulVolume result;
  result.received = Incoming(plan).elements();
  std::int64_t bytes = 0;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind != BufferKind::operand) bytes += buffer.bytes;
  }
  const bool known = !plan.buffers.empty() && plan.buffers.front().operand;
  const std::int64_t item = known ? size_of(plan.buffers.front().operand->dtype) : 1;
  result.scratch = (bytes + item - 1) / item;
  return result;
}

double matmul_volume_bound(std::int64_t m, std::int64_t n, std::int64_t k, int ranks, std::int64_t scratch) {
  check(m >= 0 && n >= 0 && k >= 0, "a product of {}x{} by {}x{} has negative extents", m, k, k, n);
  check(ranks >= 1, "a bound for at least one rank, not {}", ranks);
  check(scratch >= 0, "scratch must not be negative, but is {}", scratch);
  multiplication::GridQuestion question;
  question.m = m;
  question.n = n;
  question.k = k;
  question.ranks = ranks;
  question.scratch = scratch;
  return multiplication::received_bound(question);
}

}  // namespace partita
