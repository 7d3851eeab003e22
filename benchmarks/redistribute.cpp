// Redistribution of an 8192 x 8192 matrix of f64, a packed MPI_Alltoallv and ScaLAPACK's pdgemr2d.
// Bound: the same ranks copying the same bytes by memcpy, in memory of the same kind.
#include <cstring>
#include <stdexcept>

#include "benchmarks/alltoallv.hpp"
#include "benchmarks/benchmark.hpp"
#include "benchmarks/cuda_redistribute.hpp"
#include "benchmarks/pdgemr2d.hpp"

namespace partita::benchmarks {
namespace {

constexpr std::int64_t extent = 8192;

/// From where to where, and what of it ScaLAPACK can do.
struct Movement {
  Distribution source;
  Distribution destination;
  bool transposed = false;
  std::optional<std::pair<BlacsLayout, BlacsLayout>> blacs;
};

Movement row_to_column(int ranks) {
  const int part = static_cast<int>(extent) / ranks;
  const int whole = static_cast<int>(extent);
  return {Slab(0), Slab(1), false, {{{ranks, 1, part, whole}, {1, ranks, whole, part}}}};
}

Movement cyclic_128_256(int ranks) {
  const ProcessGrid from = ranks == 2 ? ProcessGrid({1, 2}) : ProcessGrid({2, 2});
  const ProcessGrid to = ranks == 2 ? ProcessGrid({2, 1}) : ProcessGrid({1, 4});
  const auto blacs = [](const ProcessGrid& grid, int block) {
    return BlacsLayout{static_cast<int>(grid.extents()[0]), static_cast<int>(grid.extents()[1]), block,
                       block};
  };
  return {BlockCyclic(from, {128, 128}),
          BlockCyclic(to, {256, 256}),
          false,
          {{blacs(from, 128), blacs(to, 256)}}};
}

Movement transpose(int /*ranks*/) {
  return {Slab(0), Slab(0), true, std::nullopt};
}

/// The arrays of one case: ours, and of the same kind of memory for the bound and the peers.
struct Arrays {
  Array source;
  Array destination;
};

Arrays make_arrays(const Context& context, const Movement& movement, Residency residency) {
  const ArrayOptions options{.residency = residency};
  Arrays arrays{empty(context, {extent, extent}, movement.source, Dtype::f64, options),
                empty(context, {extent, extent}, movement.destination, Dtype::f64, options)};
  fill_random(arrays.source, 1);
  fill(arrays.destination, 0.0);  // touched before
  return arrays;
}

/// The result must be what a redistribution by another way gives: a benchmark of wrong numbers is worth
/// nothing.
void check_result(const Arrays& arrays, const RedistributeOptions& options, const std::string& name) {
  RedistributeOptions other = options;
  other.method = RedistributeMethod::messages;
  const Array expected = redistribute(arrays.source, arrays.destination.layout(), other);
  if (!compare(expected, arrays.destination).equal) throw Error(name + ": the result is wrong");
}

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Movement& movement, Residency residency, int ranks_per_node) {
  std::optional<Context> apart;  // the same ranks, each on a separate node
  if (ranks_per_node > 0) {
    ContextOptions own_nodes;
    own_nodes.ranks_per_node = ranks_per_node;
    apart.emplace(initialize(own_nodes));
  }
  const Context& context = apart ? *apart : world;
  Arrays arrays = make_arrays(context, movement, residency);
  RedistributeOptions how;
  if (movement.transposed) how.axes = {1, 0};
  Redistribute plan(context, arrays.source.operand(), arrays.destination.operand(), how);

  const Layout& from = arrays.source.layout();
  const Layout& to = arrays.destination.layout();
  const auto* source = arrays.source.data<double>();
  auto* destination = arrays.destination.data<double>();
  const auto bytes = static_cast<std::size_t>(arrays.source.local_size()) * sizeof(double);
  std::vector<Contender> contenders{{"ours", [&] { plan.execute(arrays.source, arrays.destination); }},
                                    {"memcpy", [&] { std::memcpy(destination, source, bytes); }}};
  const auto alltoallv = make_alltoallv(context, from, to, movement.transposed);
  if (alltoallv) contenders.push_back({"mpi_alltoallv", [&] { alltoallv->run(source, destination); }});
  std::unique_ptr<Pdgemr2d> pdgemr2d;
  if (movement.blacs)
    pdgemr2d = make_pdgemr2d(context, {extent, extent}, movement.blacs->first, movement.blacs->second);
  if (pdgemr2d) contenders.push_back({"pdgemr2d", [&] { pdgemr2d->run(source, destination); }});

  const std::vector<double> seconds = measure(context, contenders, options.runs);
  plan.execute(arrays.source, arrays.destination);
  check_result(arrays, how, name);
  Result result{"redistribute", name, context.size(), extent * extent * 8,
                seconds[0],     {},   "memcpy",       seconds[1]};
  for (std::size_t i = 2; i < contenders.size(); ++i) result.peers[contenders[i].name] = seconds[i];
  return result;
}

Case make_case(const std::string& name, Movement (*movement)(int), Residency residency,
               int ranks_per_node = 0) {
  return {"redistribute", name, {2, 4}, [=](const Context& context, const Options& options) {
            return run(context, options, name, movement(context.size()), residency, ranks_per_node);
          }};
}

}  // namespace

std::vector<Case> redistribute_cases() {
  std::vector<Case> cases;
  const std::vector<std::pair<std::string, Movement (*)(int)>> movements{
      {"row-to-column", row_to_column}, {"cyclic-128-256", cyclic_128_256}, {"transpose", transpose}};
  for (const auto& [name, movement] : movements) {
    cases.push_back(make_case(name + "/heap", movement, Residency::heap));
    cases.push_back(make_case(name + "/ordinary", movement, Residency::ordinary));
  }
  cases.push_back(make_case("row-to-column/messages", row_to_column, Residency::ordinary, 1));
  for (Case& one : cuda_redistribute_cases()) {
    one.device = Device::Kind::cuda;
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace partita::benchmarks
