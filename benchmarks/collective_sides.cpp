#include "benchmarks/collective_sides.hpp"

#include <array>

namespace partita::benchmarks {
namespace {

constexpr std::int64_t period = 7;  // of the sources' elements

}  // namespace

std::span<const CollectiveKind> collective_kinds() {
  static constexpr CollectiveKind kinds[] = {{Collective::all_reduce, "allreduce"},
                                             {Collective::reduce_scatter, "reduce_scatter"},
                                             {Collective::all_gather, "allgather"},
                                             {Collective::all_to_all, "alltoall"},
                                             {Collective::broadcast, "bcast"}};
  return kinds;
}

Sides make_sides(const Context& context, Collective which, std::int64_t count, const ArrayOptions& options) {
  Sides sides{empty(context, {count}, Replicated{}, Dtype::f32, options),
              empty(context, {count}, Replicated{}, Dtype::f32, options),
              {},
              {}};
  sides.from = sides.source.local();
  sides.to = sides.destination.local();
  const std::int64_t part = count / context.size();
  if (which == Collective::all_gather) sides.from.extents = {part};
  if (which == Collective::reduce_scatter) sides.to.extents = {part};
  return sides;
}

float source_element(std::int64_t index, std::int64_t rank) {
  return static_cast<float>((index + rank) % period);
}

void run_ours(const Context& context, Collective which, const Sides& sides, Stream stream) {
  switch (which) {
    case Collective::all_reduce:
      return all_reduce(context, sides.from, sides.to, {.stream = stream});
    case Collective::reduce_scatter:
      return reduce_scatter(context, sides.from, sides.to, {.stream = stream});
    case Collective::all_gather:
      return all_gather(context, sides.from, sides.to, stream);
    case Collective::all_to_all:
      return all_to_all(context, sides.from, sides.to, stream);
    case Collective::broadcast:
      return broadcast(context, sides.to, 0, stream);
  }
}

void check_result(const Context& context, Collective which, std::span<const float> result, std::int64_t count,
                  const std::string& name) {
  const int ranks = context.size();
  const std::int64_t part = count / ranks;
  const std::int64_t first = which == Collective::reduce_scatter ? part * context.rank() : 0;
  std::array<float, period> sums{};
  for (std::int64_t i = 0; i < period; ++i) {
    for (int rank = 0; rank < ranks; ++rank) sums[static_cast<std::size_t>(i)] += source_element(i, rank);
  }
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(result.size()); ++i) {
    float expected = sums[static_cast<std::size_t>((first + i) % period)];
    if (which == Collective::all_gather) expected = source_element(i % part, i / part);
    if (which == Collective::all_to_all)
      expected = source_element(context.rank() * part + i % part, i / part);
    if (which == Collective::broadcast) expected = source_element(i, 0);
    if (result[static_cast<std::size_t>(i)] != expected) throw Error(name + ": the result is wrong");
  }
}

}  // namespace partita::benchmarks
