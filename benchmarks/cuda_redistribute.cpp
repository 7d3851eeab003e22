// Redistribution of a matrix between GPUs. Peer: NCCL's all-to-all of the same bytes, without the packing
// that it also needs. Bound: every GPU pushing the same bytes to its peers by copy engine, a stream for each.
// In `c-to-f-order` the matrix is stored by rows before and by columns afterwards: all of it is transposed
// in memory.
//
// Every contender does several turns before the host looks, so that what is timed is the device.
#include "benchmarks/cuda_redistribute.hpp"

#include <cuda_runtime_api.h>

#include <partita/device_report.hpp>
#include <stdexcept>

#include "benchmarks/cuda_matrix.hpp"
#include "benchmarks/cuda_messages.hpp"
#include "benchmarks/cuda_nccl.hpp"
#include "benchmarks/cuda_pushes.hpp"

namespace partita::benchmarks {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

struct Movement {
  Distribution source;
  Distribution destination;
  Order order = Order::row_major;  ///< of the destination
};

Movement row_to_column(int /*ranks*/) {
  return {Slab(0), Slab(1)};
}

Movement c_to_f_order(int /*ranks*/) {
  return {Slab(0), Slab(1), Order::column_major};
}

Movement cyclic_128_256(int ranks) {
  const ProcessGrid from = ranks == 2 ? ProcessGrid({1, 2}) : ProcessGrid({2, 2});
  const ProcessGrid to = ranks == 2 ? ProcessGrid({2, 1}) : ProcessGrid({1, 4});
  return {BlockCyclic(from, {128, 128}), BlockCyclic(to, {256, 256})};
}

struct Size {
  const char* name;
  std::int64_t bytes;  // of a rank
  int turns;
};

std::optional<Result> run(const Context& world, const Options& options, const std::string& name,
                          const Movement& movement, Dtype dtype, const Size& size) {
  if (report_devices().devices.empty()) return std::nullopt;
  ContextOptions on_devices;
  on_devices.device = Device::cuda();
  const Context context = initialize(on_devices);
  const Shape shape = matrix_of(size.bytes / size_of(dtype) * context.size());
  Array source = empty(context, shape, movement.source, dtype);
  Array destination = empty(context, shape, movement.destination, dtype, {.order = movement.order});
  fill_random(source, 1);
  Redistribute plan(context, source.operand(), destination.operand());
  Pushes pushes(context, size.bytes / context.size());
  const auto nccl = make_nccl(world);
  auto* const stream = static_cast<cudaStream_t>(context.stream().handle);

  std::vector<Contender> contenders{{"ours",
                                     [&] {
                                       for (int i = 0; i < size.turns; ++i) {
                                         plan.execute(source, destination, Stream{});
                                       }
                                       context.synchronize();
                                     }},
                                    {"push", [&] { pushes.run(size.turns); }}};
  if (nccl) {
    contenders.push_back({"nccl_all_to_all", [&] {
                            for (int i = 0; i < size.turns; ++i) {
                              nccl->all_to_all(pushes.from(), pushes.to(), pushes.piece(), stream);
                            }
                            require(cudaStreamSynchronize(stream));
                          }});
  }
  std::vector<double> seconds = measure(world, contenders, options.runs);
  for (double& time : seconds) time /= size.turns;
  check_matrix(destination, name);
  Result result{"redistribute", name, context.size(), size.bytes * context.size(),
                seconds[0],     {},   "push",         seconds[1]};
  if (nccl) result.peers["nccl_all_to_all"] = seconds[2];
  return result;
}

}  // namespace

std::vector<Case> cuda_redistribute_cases() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, Movement (*movement)(int), Dtype dtype, const Size& size) {
    const std::string whole = name + "/cuda/" + std::string(partita::name(dtype)) + "/" + size.name;
    cases.push_back({"redistribute",
                     whole,
                     {2, 4},
                     [=](const Context& world, const Options& options) {
                       return run(world, options, whole, movement(world.size()), dtype, size);
                     },
                     Device::Kind::cuda});
  };
  const Size sizes[] = {{"256KiB", 256 * kib, 200}, {"16MiB", 16 * mib, 50}, {"1GiB", gib, 5}};
  for (const Size& size : sizes) {
    add("row-to-column", row_to_column, Dtype::f32, size);
    add("row-to-column", row_to_column, Dtype::c64, size);
    add("c-to-f-order", c_to_f_order, Dtype::c64, size);
  }
  add("c-to-f-order", c_to_f_order, Dtype::f32, sizes[2]);
  add("cyclic-128-256", cyclic_128_256, Dtype::f32, sizes[2]);
  for (Case& one : cuda_messages_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace partita::benchmarks
