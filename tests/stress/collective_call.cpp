#include "stress/collective_call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace partita::testing {
namespace {

constexpr std::array names{"broadcast", "reduce",     "all_reduce",     "scan",       "gather",
                           "scatter",   "all_gather", "reduce_scatter", "all_to_all", "all_to_all_v"};

}  // namespace

std::int64_t CollectiveCall::sum(int last) const {
  return std::accumulate(counts.begin(), counts.begin() + last, std::int64_t{0});
}

std::int64_t CollectiveCall::between(int from, int to) const {
  return kind == Kind::all_to_all ? counts[0] : counts[static_cast<std::size_t>((from * 2 + to) % ranks)];
}

Shape CollectiveCall::with_rest(std::int64_t first) const {
  Shape shape{first};
  for (const std::int64_t extent : rest) shape.push_back(extent);
  return shape;
}

Shape CollectiveCall::source_shape(int rank) const {
  std::int64_t first = counts[static_cast<std::size_t>(rank)];
  if (kind <= Kind::scan) first = counts[0];
  if (kind == Kind::scatter || kind == Kind::reduce_scatter) first = sum(ranks);
  if (kind >= Kind::all_to_all) {
    first = 0;
    for (int to = 0; to < ranks; ++to) first += between(rank, to);
  }
  return with_rest(first);
}

Shape CollectiveCall::destination_shape(int rank) const {
  std::int64_t first = counts[static_cast<std::size_t>(rank)];
  if (kind <= Kind::scan) first = counts[0];
  if (kind == Kind::gather || kind == Kind::all_gather) first = sum(ranks);
  if (kind >= Kind::all_to_all) {
    first = 0;
    for (int from = 0; from < ranks; ++from) first += between(from, rank);
  }
  return with_rest(first);
}

Number CollectiveCall::expected(int rank, Index index, int salt) const {
  const auto all_joined = [&](int last) {
    return joined(options.reduction, dtype, 0, last,
                  [&](int source) { return known(dtype, source, index, salt); });
  };
  int from = 0;
  switch (kind) {
    case Kind::broadcast:
      return known(dtype, root, index, salt);
    case Kind::reduce:
    case Kind::all_reduce:
      return all_joined(ranks);
    case Kind::scan: {
      const int last = rank + (scanned == Scan::inclusive ? 1 : 0);
      if (last > 0) return all_joined(last);
      std::array<std::byte, 16> identity{};
      write_identity(options.reduction, dtype, identity.data());
      return read_number(dtype, identity.data());
    }
    case Kind::scatter:
      index[0] += sum(rank);
      return known(dtype, root, index, salt);
    case Kind::reduce_scatter:
      index[0] += sum(rank);
      return all_joined(ranks);
    case Kind::gather:
    case Kind::all_gather:
      while (index[0] >= counts[static_cast<std::size_t>(from)])
        index[0] -= counts[static_cast<std::size_t>(from++)];
      return known(dtype, from, index, salt);
    default:
      while (index[0] >= between(from, rank)) index[0] -= between(from++, rank);
      for (int to = 0; to < rank; ++to) index[0] += between(from, to);
      return known(dtype, from, index, salt);
  }
}

void CollectiveCall::operator()(const Context& context, const View& source, const View& destination,
                                Stream stream) const {
  ReduceOptions reducing = options;
  reducing.stream = stream;
  switch (kind) {
    case Kind::broadcast:
      return broadcast(context, destination, root, stream);
    case Kind::reduce:
      return reduce(context, source, destination, reducing, root);
    case Kind::all_reduce:
      return all_reduce(context, source, destination, reducing);
    case Kind::scan:
      return scan(context, source, destination, reducing, scanned);
    case Kind::gather:
      return uneven ? gather_v(context, source, destination, counts, root, stream)
                    : gather(context, source, destination, root, stream);
    case Kind::scatter:
      return uneven ? scatter_v(context, source, destination, counts, root, stream)
                    : scatter(context, source, destination, root, stream);
    case Kind::all_gather:
      return uneven ? all_gather_v(context, source, destination, counts, stream)
                    : all_gather(context, source, destination, stream);
    case Kind::reduce_scatter:
      return uneven ? reduce_scatter_v(context, source, destination, counts, reducing)
                    : reduce_scatter(context, source, destination, reducing);
    case Kind::all_to_all:
      return all_to_all(context, source, destination, stream);
    case Kind::all_to_all_v: {
      std::vector<std::int64_t> sent, received;
      for (int peer = 0; peer < ranks; ++peer) {
        sent.push_back(between(context.rank(), peer));
        received.push_back(between(peer, context.rank()));
      }
      return all_to_all_v(context, source, destination, sent, received, stream);
    }
  }
}

std::string CollectiveCall::text() const {
  return fmt::format("{} {} counts {}{} rest {} {}{} root {}", names.at(static_cast<std::size_t>(kind)),
                     name(dtype), fmt::join(counts, ","), uneven ? " uneven" : "", to_string(rest),
                     name(options.reduction), scanned == Scan::exclusive ? " exclusive" : "", root);
}

}  // namespace partita::testing
