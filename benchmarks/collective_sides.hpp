// What the benchmarks of collectives on the host and on devices have in common.
#pragma once

#include <partita/partita.hpp>
#include <span>
#include <string>

#include "benchmarks/mpi_collectives.hpp"

namespace partita::benchmarks {

struct CollectiveKind {
  Collective which;
  const char* name;
};
std::span<const CollectiveKind> collective_kinds();

/// Source and destination of one rank, each as large as the whole, and what of them the call sees.
struct Sides {
  Array source;
  Array destination;
  View from;
  View to;
};

/// `count` elements of f32; contents undefined. Collective.
Sides make_sides(const Context& context, Collective which, std::int64_t count, const ArrayOptions& options);

/// What the source of a rank holds, and what is broadcast (rank 0's).
float source_element(std::int64_t index, std::int64_t rank);

void run_ours(const Context& context, Collective which, const Sides& sides, Stream stream = {});

/// A benchmark of wrong numbers is worth nothing. `result`: in host memory, what `sides.to` shows. Throws
/// Error.
void check_result(const Context& context, Collective which, std::span<const float> result, std::int64_t count,
                  const std::string& name);

}  // namespace partita::benchmarks
