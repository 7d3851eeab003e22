// Collectives of f32, 1 KiB to 64 MiB, beside MPI's own. Bound: the same ranks copying the same bytes by
// memcpy, in memory of the same kind. Short cases are many short runs.
#include <algorithm>
#include <cstring>

#include "benchmarks/benchmark.hpp"
#include "benchmarks/mpi_collectives.hpp"

namespace partita::benchmarks {
namespace {

struct Kind {
  Collective which;
  std::string name;
};

/// Source and destination of one rank, each as large as the whole.
struct Sides {
  Array source;
  Array destination;
  View from;
  View to;
};

Sides make_sides(const Context& context, Collective which, std::int64_t count, Residency residency) {
  const ArrayOptions options{residency, Order::row_major, MemorySpace::host};
  Sides sides{empty(context, {count}, Replicated{}, Dtype::f32, options),
              empty(context, {count}, Replicated{}, Dtype::f32, options),
              {},
              {}};
  auto* const source = sides.source.data<float>();
  for (std::int64_t i = 0; i < count; ++i) source[i] = static_cast<float>((i + context.rank()) % 7);
  fill(sides.destination, 0.0F);
  sides.from = sides.source.local();
  sides.to = sides.destination.local();
  const std::int64_t part = count / context.size();
  if (which == Collective::all_gather) sides.from.extents = {part};
  if (which == Collective::reduce_scatter) sides.to.extents = {part};
  if (which == Collective::broadcast && context.rank() == 0) {
    std::memcpy(sides.to.data, source, static_cast<std::size_t>(count) * sizeof(float));
  }
  return sides;
}

void run_ours(const Context& context, Collective which, const Sides& sides) {
  switch (which) {
    case Collective::all_reduce:
      return all_reduce(context, sides.from, sides.to);
    case Collective::reduce_scatter:
      return reduce_scatter(context, sides.from, sides.to);
    case Collective::all_gather:
      return all_gather(context, sides.from, sides.to);
    case Collective::all_to_all:
      return all_to_all(context, sides.from, sides.to);
    case Collective::broadcast:
      return broadcast(context, sides.to);
  }
}

/// A benchmark of wrong numbers is worth nothing. Element i of rank r's source is (i + r) mod 7.
void check_result(const Context& context, Collective which, const Sides& sides, std::int64_t count,
                  const std::string& name) {
  const int ranks = context.size();
  const std::int64_t part = count / ranks;
  const auto* const result = static_cast<const float*>(sides.to.data);
  const auto source = [](std::int64_t i, std::int64_t rank) { return (i + rank) % 7; };
  for (std::int64_t i = 0; i < sides.to.extents[0]; ++i) {
    std::int64_t expected = 0;
    const std::int64_t first = which == Collective::reduce_scatter ? part * context.rank() : 0;
    for (int rank = 0; rank < ranks; ++rank) expected += source(first + i, rank);
    if (which == Collective::all_gather) expected = source(i % part, i / part);
    if (which == Collective::all_to_all) expected = source(context.rank() * part + i % part, i / part);
    if (which == Collective::broadcast) expected = source(i, 0);
    if (result[i] != static_cast<float>(expected)) throw Error(name + ": the result is wrong");
  }
}

std::optional<Result> run(const Context& context, const Options& options, const Kind& kind,
                          const std::string& name, std::int64_t bytes, Residency residency) {
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(float));
  const Sides sides = make_sides(context, kind.which, count, residency);
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
  if (peer) contenders.push_back({"mpi_" + kind.name, many(peer)});

  const std::vector<double> seconds = measure(context, contenders, options.runs);
  run_ours(context, kind.which, sides);
  check_result(context, kind.which, sides, count, name);
  Result result{"collectives",      name, context.size(), bytes,
                seconds[0] / turns, {},   "memcpy",       seconds[1] / turns};
  if (peer) result.peers[contenders[2].name] = seconds[2] / turns;
  return result;
}

}  // namespace

std::vector<Case> collectives_cases() {
  std::vector<Case> cases;
  const Kind kinds[] = {{Collective::all_reduce, "allreduce"},
                        {Collective::reduce_scatter, "reduce_scatter"},
                        {Collective::all_gather, "allgather"},
                        {Collective::all_to_all, "alltoall"},
                        {Collective::broadcast, "bcast"}};
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"1KiB", 1 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"64MiB", 64 << 20}};
  for (const Kind& kind : kinds) {
    for (const auto& [size, bytes] : sizes) {
      for (const Residency residency : {Residency::heap, Residency::ordinary}) {
        const std::string name =
            kind.name + "-" + size + (residency == Residency::heap ? "/heap" : "/ordinary");
        cases.push_back(
            {"collectives", name, {2, 4}, [=, bytes = bytes](const Context& context, const Options& options) {
               return run(context, options, kind, name, bytes, residency);
             }});
      }
    }
  }
  return cases;
}

}  // namespace partita::benchmarks
