// partita machine: the figures of the machine that it runs on, measured, as a machine description.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <partita/partita.hpp>

#include "tools/command_line.hpp"
#include "tools/job.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::machine_command {

struct Options {
  std::string name = "here";
  std::string output;
  bool on_gpu = false;
  int ranks = usual_ranks();
  int mebibytes = 0;  // 0: the usual ones, here and below
  int order = 0;
  int runs = 5;
};

using Clock = std::chrono::steady_clock;

/// Three digits are more than any of it is worth.
double rounded(double figure) {
  return std::stod(fmt::format("{:.3g}", figure));
}

/// Every rank measures the same, one thing after the other.
class Measures {
 public:
  Measures(const Context& context, const Options& options)
      : context_(context),
        runs_(options.runs),
        on_gpu_(options.on_gpu),
        elements_((options.mebibytes > 0 ? options.mebibytes
                   : on_gpu_             ? 512
                                         : 64) *
                  (1 << 20) / item),
        order_(options.order > 0 ? options.order
               : on_gpu_         ? 8192
                                 : 1024) {}

  Machine all(const std::string& name) {
    Machine machine;
    machine.name = name;
    machine.ranks_per_node = static_cast<int>(context_.topology().node_ranks(0).size());
    measure_copies(machine);
    const auto [neighbour, stranger] = others();
    if (neighbour > 0) measure_neighbour(machine, neighbour);
    if (neighbour == 0) machine.peer_bandwidth = machine.copy_bandwidth;
    if (stranger > 0) {
      machine.network_bandwidth = bytes() / transfer_seconds(stranger, elements_);
      machine.network_latency = transfer_seconds(stranger, 1);
    }
    if (on_gpu_) machine.bus_bandwidth = bytes() / bus_seconds();
    machine.flops = product_flops(Dtype::f64);
    machine.flops_transform = transform_flops();
    if (on_gpu_) machine.flops_f32 = product_flops(Dtype::f32);
    if (on_gpu_) machine.flops_16 = product_flops(Dtype::bf16);
    return machine;
  }

 private:
  static constexpr std::int64_t item = 8;  // all that moves is f64

  double bytes() const { return static_cast<double>(elements_ * item); }
  Stream stream() const { return Stream{}; }

  /// The median of several times that the slowest rank takes for `body`, of which `times` are started
  /// together.
  template <class Body>
  double seconds(int times, const Body& body) const {
    std::vector<double> found;
    for (int run = 0; run <= runs_; ++run) {
      context_.barrier();
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < times; ++i) body();
      if (on_gpu_) context_.synchronize();
      const double mine = std::chrono::duration<double>(Clock::now() - begin).count() / times;
      if (run > 0) found.push_back(slowest(mine));  // the first one touches memory for the first time
    }
    std::ranges::nth_element(found, found.begin() + runs_ / 2);
    return found[static_cast<std::size_t>(runs_ / 2)];
  }

  double slowest(double mine) const {
    Array one = empty(context_, {context_.size()}, Slab(0), Dtype::f64, {.space = MemorySpace::host});
    *one.data<double>() = mine;
    return max<double>(one);
  }

  void copy_there(const Array& from, Array& to) const { on_gpu_ ? copy(from, to, stream()) : copy(from, to); }

  /// So many elements on every rank.
  Array parts(std::int64_t elements, std::optional<MemorySpace> space = {},
              Residency residency = Residency::heap) const {
    Array array = empty(context_, {elements * context_.size()}, Slab(0), Dtype::f64,
                        {.residency = residency, .space = space});
    fill(array, 1.0);
    return array;
  }

  void measure_copies(Machine& machine) const {
    const bool first = context_.rank() == 0;
    const Array from = parts(elements_);
    Array to = parts(elements_);
    const auto copy_once = [&] { copy_there(from, to); };
    const auto copy_alone = [&] {
      if (first) copy_once();
    };
    machine.copy_bandwidth = bytes() / seconds(4, copy_alone);
    machine.node_copy_bandwidth = machine.ranks_per_node * bytes() / seconds(4, copy_once);
    const Array little = parts(1);
    Array little_to = parts(1);
    machine.copy_latency = seconds(200, [&] {
      if (first) copy_there(little, little_to);
    });
    machine.strided_bandwidth = transposed_bytes() / seconds(2, transposition(first));
  }

  /// Of the largest square that fits.
  std::int64_t side() const { return static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements_))); }
  double transposed_bytes() const { return static_cast<double>(side() * side() * item); }
  std::function<void()> transposition(bool mine) const {
    Array rows = empty(context_, {side() * context_.size(), side()}, Slab(0), Dtype::f64);
    Array columns = empty(context_, {side(), side() * context_.size()}, Slab(1), Dtype::f64);
    fill(rows, 1.0);
    return [this, mine, seen = rows.permuted({1, 0}), columns]() mutable {
      if (mine) copy_there(seen, columns);
    };
  }

  /// The first other rank on the node of rank 0, and the first on another node; 0: there is none.
  std::pair<int, int> others() const {
    int neighbour = 0, stranger = 0;
    for (int rank = context_.size() - 1; rank > 0; --rank)
      (context_.topology().same_node(0, rank) ? neighbour : stranger) = rank;
    return {neighbour, stranger};
  }

  /// All that one rank has is sent to rank 0.
  double transfer_seconds(int from, std::int64_t elements) const {
    const auto on = [&](int rank) {
      return empty(context_, {elements},
                   BlockCyclic(ProcessGrid({context_.size()}, Order::row_major, {rank}), {elements}),
                   Dtype::f64);
    };
    Array source = on(from);
    fill(source, 1.0);
    Array destination = on(0);
    Redistribute plan(context_, source.operand(), destination.operand());
    return seconds(elements > 1 ? 4 : 50, [&] {
      on_gpu_ ? plan.execute(source, destination, stream()) : plan.execute(source, destination);
    });
  }

  /// A little exchange is the copy and a signal each way.
  void measure_neighbour(Machine& machine, int neighbour) const {
    machine.peer_bandwidth = bytes() / transfer_seconds(neighbour, elements_);
    const double little = transfer_seconds(neighbour, 1);
    machine.signal_latency = std::max(0.0, (little - machine.copy_latency) / 2);
  }

  /// The slower way, all ranks at once.
  double bus_seconds() const {
    Array host = parts(elements_, MemorySpace::host, Residency::ordinary);
    Array device = parts(elements_);
    const double there = seconds(1, [&] { copy(host, device); });
    return std::max(there, seconds(1, [&] { copy(device, host); }));
  }

  /// Every rank multiplies by itself.
  double product_flops(Dtype dtype) const {
    Array a = empty(context_, {order_ * context_.size(), order_}, Slab(0), dtype);
    Array b = empty(context_, {order_, order_}, Replicated(), dtype);
    Array d = empty(context_, a.layout(), dtype);
    fill_random(a, 1);
    fill_random(b, 2);
    Matmul plan(context_, {a.operand(), b.operand(), {}, d.operand()});
    plan.reset(a, b, nullptr, d);
    const double taken = seconds(2, [&] { on_gpu_ ? plan.execute(stream()) : plan.execute(); });
    return 2 * std::pow(static_cast<double>(order_), 3) / taken;
  }

  /// Every rank transforms lines that stay in its cache.
  double transform_flops() const {
    constexpr std::int64_t line = 256;
    const std::int64_t lines = std::max<std::int64_t>(1, elements_ / line / 2);
    Array array = empty(context_, {lines * context_.size(), line}, Slab(0), Dtype::c128);
    fill(array, std::complex<double>(0));  // transforms in place do not grow it
    FftOptions options;
    options.axes = {1};
    FFT plan(context_, array.operand(), array.operand(), options, true);
    const double taken =
        seconds(2, [&] { on_gpu_ ? plan.execute(array, array, 1, stream()) : plan.execute(array, array); });
    return 5 * static_cast<double>(lines * line) * std::log2(line) / taken;
  }

  const Context& context_;
  int runs_;
  bool on_gpu_;
  std::int64_t elements_;
  std::int64_t order_;
};

/// As Machine::read takes it. What one node of CPUs has not is left out.
std::string description_of(const Machine& machine, const Context& context, bool on_gpu) {
  const bool several_nodes = context.topology().node_count() > 1;
  nlohmann::ordered_json json = {
      {"name", machine.name},
      {"description", fmt::format("Measured by partita machine on {} {}.", count_of(context.size(), "rank"),
                                  on_gpu ? "with a GPU each" : "of CPUs")},
      {"ranks_per_node", machine.ranks_per_node}};
  const auto add = [&](const char* key, double figure) { json[key] = rounded(figure); };
  add("copy_bandwidth", machine.copy_bandwidth);
  add("node_copy_bandwidth", machine.node_copy_bandwidth);
  add("strided_bandwidth", machine.strided_bandwidth);
  add("copy_latency", machine.copy_latency);
  if (machine.ranks_per_node > 1) add("signal_latency", machine.signal_latency);
  add("peer_bandwidth", machine.peer_bandwidth);
  if (several_nodes) add("network_bandwidth", machine.network_bandwidth);
  if (several_nodes) add("network_latency", machine.network_latency);
  if (on_gpu) add("bus_bandwidth", machine.bus_bandwidth);
  add("flops", machine.flops);
  add("flops_transform", machine.flops_transform);
  if (on_gpu) add("flops_f32", machine.flops_f32);
  if (on_gpu) add("flops_16", machine.flops_16);
  return json.dump(2) + "\n";
}

void measure(const Options& options) {
  ContextOptions where;
  where.device = options.on_gpu ? usable_gpu() : Device::cpu();
  on_ranks(
      options.ranks,
      [&](Context& context) {
        const Machine machine = Measures(context, options).all(options.name);
        if (context.rank() != 0) return;
        const std::string text = description_of(machine, context, options.on_gpu);
        options.output.empty() ? fmt::print("{}", text) : write_file(options.output, text);
      },
      where);
}

void describe(Subcommand& command, Options& options) {
  command.word("--name", options.name, "name of the machine (here)", "NAME");
  command.word("-o,--output", options.output, "the description, JSON (standard output)", "FILE");
  command.device(options.on_gpu, "device to measure (cpu)");
  command.ranks(options.ranks, "ranks to start, as many as programs will have (up to 4, one per core)");
  command.number("--mib", options.mebibytes, 1, "size of a copy per rank in MiB (64; on GPUs 512)");
  command.number("--order", options.order, 1, "order of the multiplied matrices (1024; on GPUs 8192)");
  command.number("--runs", options.runs, 1, "number of runs, of which the median is taken (5)");
  command.footer(
      examples("partita machine -o here.json # then PARTITA_MACHINE=./here.json\n"
               "partita machine --device cuda -n 4 --name node-4-gpus -o node-4-gpus.json"));
}

const Register registered("machine", "measure this machine, for predictions and for the choice of methods",
                          describe, measure);

}  // namespace partita::tools::machine_command
