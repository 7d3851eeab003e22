// Collectives of f32, 1 KiB to 64 MiB, and MPI's own. Bound: the same ranks copying the same bytes by
// memcpy, in memory of the same kind. Short cases are many short runs.
#include <algorithm>
#include <cstring>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/collective_sides.hpp"
#include "benchmarks/cuda_collectives.hpp"

namespace partita::benchmarks {
namespace {

/// Sources as they are checked for afterwards.
Sides make_host_sides(const Context& context, Collective which, std::int64_t count, Residency residency) {
  Sides sides = make_sides(context, which, count, {.residency = residency, .space = MemorySpace::host});
  auto* const source = sides.source.data<float>();
  for (std::int64_t i = 0; i < count; ++i) source[i] = source_element(i, context.rank());
  fill(sides.destination, 0.0F);
  if (which == Collective::broadcast && context.rank() == 0) {
    std::memcpy(sides.to.data, source, static_cast<std::size_t>(count) * sizeof(float));
  }
  return sides;
}

std::optional<Result> run(const Context& context, const Options& options, const CollectiveKind& kind,
                          const std::string& name, std::int64_t bytes, Residency residency) {
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(float));
  const Sides sides = make_host_sides(context, kind.which, count, residency);
  const auto turns = static_cast<int>(std::clamp<std::int64_t>((8 << 20) / bytes, 1, 1000));
  const auto many = [turns](const std::function<void()>& one) {
    return [turns, one] {
      for (int i = 0; i < turns; ++i) one();
    };
  };
  auto* const source = static_cast<float*>(sides.source.local().data);
  auto* const destination = static_cast<float*>(sides.destination.local().data);
  std::vector<float> copy(static_cast<std::size_t>(count), 1.0F);
  std::vector<Contender> contenders{
      {"ours", many([&] { run_ours(context, kind.which, sides); })},
      {"memcpy", many([&] { std::memcpy(copy.data(), source, static_cast<std::size_t>(bytes)); })}};
  const auto peer = make_mpi_collective(context, kind.which, source, destination, bytes);
  if (peer) contenders.push_back({std::string("mpi_") + kind.name, many(peer)});

  const std::vector<double> seconds = measure(context, contenders, options.runs);
  run_ours(context, kind.which, sides);
  check_result(context, kind.which,
               {static_cast<const float*>(sides.to.data), static_cast<std::size_t>(sides.to.extents[0])},
               count, name);
  Result result{"collectives",      name, context.size(), bytes,
                seconds[0] / turns, {},   "memcpy",       seconds[1] / turns};
  if (peer) result.peers[contenders[2].name] = seconds[2] / turns;
  return result;
}

}  // namespace

std::vector<Case> collectives_cases() {
  std::vector<Case> cases;
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"1KiB", 1 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"64MiB", 64 << 20}};
  for (const CollectiveKind& kind : collective_kinds()) {
    for (const auto& [size, bytes] : sizes) {
      for (const Residency residency : {Residency::heap, Residency::ordinary}) {
        const std::string name =
            std::string(kind.name) + "-" + size + (residency == Residency::heap ? "/heap" : "/ordinary");
        cases.push_back(
            {"collectives", name, {2, 4}, [=, bytes = bytes](const Context& context, const Options& options) {
               return run(context, options, kind, name, bytes, residency);
             }});
      }
    }
  }
  for (Case& one : cuda_collectives_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
