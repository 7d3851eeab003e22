#include "plan/reads.hpp"

#include <set>
#include <string>
#include <tuple>

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

}  // namespace

std::vector<Part> parts_read(const Work& work) {
  return std::visit(Reads{}, work);
}

std::vector<Part> parts_read_from_peers(const Plan& plan) {
  std::vector<Part> parts;
  std::set<std::tuple<int, int, std::int64_t, std::string>> seen;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::compute) continue;
    for (Part& part : parts_read(work_of(plan, step))) {
      if (part.place.rank == plan.rank) continue;
      const bool fresh =
          seen.emplace(part.place.buffer, part.place.rank, part.place.offset, to_string(part.region)).second;
      if (fresh) parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace partita
