// One block of the language model on GPUs, forwards and backwards in bf16, 8192 features and tokens.
//   transformer-layer    all of it but attention, whose time alone is listed too and is subtracted;
//   attention is
//                        fused where the device has that. Bound: the products with weights alone, of arrays
//                        that each rank has for itself, by cuBLASLt. Peer of all of it: the same block in
//                        PyTorch, by DTensor
//   transformer-softmax  of attention by products: its softmax, twice forwards and once backwards. Bound: a
//   copy on
//                        the device of as many bytes as it reads and writes: rows are read up to the query's
//                        own key
#include "benchmarks/transformer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <partita/device_report.hpp>

#include "benchmarks/python_peers.hpp"
#include "transformer/kernels.hpp"
#include "transformer/model.hpp"

namespace partita::benchmarks {
namespace {

using transformer::Settings;

Settings settings_of(std::int64_t hidden, std::int64_t sequence) {
  Settings settings;
  settings.layers = 1;
  settings.hidden = hidden;
  settings.heads = hidden / 128;
  settings.sequence = sequence;
  settings.batch = 1;
  settings.dtype = Dtype::bf16;
  return settings;
}

/// Numbers of about that deviation, made in place: the last two dimensions are a product of matrices
/// of few columns and rows with random numbers. Collective.
void fill_there(Array& array, double deviation, std::uint64_t seed) {
  constexpr std::int64_t few = 16;
  const Shape& shape = array.shape();
  if (shape.size() < 2) return fill_random(array, seed);
  Shape tall = shape, wide{few, shape[shape.size() - 1]};
  tall[tall.size() - 1] = few;
  Array a = empty(array.context(), tall, Replicated(), Dtype::bf16);
  Array b = empty(array.context(), wide, Replicated(), Dtype::bf16);
  fill_random(a, seed);
  fill_random(b, seed + 1);
  matmul_into(
      a, b, nullptr, array,
      {.stream = array.context().stream(), .alpha = deviation * 3 / std::sqrt(static_cast<double>(few))});
}

/// What a rank of `ranks` multiplies with weights for a block, tensor-parallel, with nothing to be gathered
/// or summed.
class Products {
 public:
  Products(const Context& alone, const Settings& settings, int ranks) : alone_(alone) {
    const std::int64_t h = settings.hidden, n = settings.tokens(), own = h / ranks;
    const Array x = activations(h, n), stream = activations(h, n);
    const MatmulOptions plain, of_a{.op_a = Op::transpose}, of_b{.op_b = Op::transpose};
    // What widens from x, what narrows onto the stream; and back: the gradients of weights and of what they
    // were multiplied by.
    for (const std::int64_t width : {3 * own, 4 * own}) {
      const Array weight = weights(width, h), inside = activations(width, n);
      add(weight, x, like(inside), plain);
      add(inside, x, gradients(width, h), of_b);
      add(weight, inside, like(x), of_a);
    }
    for (const std::int64_t width : {own, 4 * own}) {
      const Array weight = weights(h, width), inside = activations(width, n);
      add(weight, inside, like(stream), plain);
      add(stream, inside, gradients(h, width), of_b);
      add(weight, stream, like(inside), of_a);
    }
  }

  void run() {
    for (const auto& plan : plans_) plan->execute(Stream{});
    alone_.synchronize();
  }

 private:
  Array make(const Shape& shape, Dtype dtype, Order order) {
    Array array = empty(alone_, shape, Replicated(), dtype, {.order = order});
    fill_there(array, 1 / 64., seed_ += 2);  // products of products stay numbers
    return array;
  }
  Array weights(std::int64_t rows, std::int64_t columns) {
    return make({rows, columns}, Dtype::bf16, Order::row_major);
  }
  /// Only written, so that each run multiplies the same numbers.
  Array like(const Array& array) {
    const Order order = array.shape().size() == 2 ? Order::column_major : Order::row_major;
    return empty(alone_, array.shape(), Replicated(), Dtype::bf16, {.order = order});
  }
  /// Of weights.
  Array gradients(std::int64_t rows, std::int64_t columns) {
    return empty(alone_, {rows, columns}, Replicated(), Dtype::f32);
  }
  Array activations(std::int64_t features, std::int64_t tokens) {
    return make({features, tokens}, Dtype::bf16, Order::column_major);
  }
  void add(const Array& a, const Array& b, const Array& d, const MatmulOptions& options) {
    Array result = d;
    plans_.push_back(
        std::make_unique<Matmul>(alone_, MatmulOperands{a.operand(), b.operand(), {}, d.operand()}, options));
    plans_.back()->reset(a, b, nullptr, result);
  }

  Context alone_;
  std::uint64_t seed_ = 0;
  std::vector<std::unique_ptr<Matmul>> plans_;
};

/// A model that has learned nothing, but whose numbers are as those of one that begins to.
class Measured {
 public:
  Measured(const Context& context, const Settings& settings)
      : context_(context),
        execution_(context),
        model_(execution_, settings, transformer::mesh_of(context.size(), 1)) {}

  /// All that `pass_block` reads.
  void prepare() {
    const Settings& settings = model_.settings();
    std::uint64_t seed = 0;
    for (const transformer::Parameter& parameter : model_.parameters().list()) {
      Array weight = parameter.weight.array();
      fill_there(weight, parameter.deviation, seed += 2);
    }
    transformer::Batch batch(static_cast<std::size_t>(settings.batch * (settings.sequence + 1)));
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<std::uint8_t>(i * i % 251);
    (void)model_.gradients(batch);
  }

  void pass_block() {
    model_.pass_block();
    context_.synchronize();
  }
  void pass_attention() {
    model_.pass_attention();
    context_.synchronize();
  }
  void pass_softmax() {
    model_.pass_softmax();
    context_.synchronize();
  }

 private:
  Context context_;
  transformer::Execution execution_;
  transformer::Model model_;
};

Context on_devices() {
  ContextOptions options;
  options.device = Device::cuda();
  return initialize(options);
}

std::optional<Result> layer(const Context& world, const Options& options, std::int64_t size) {
  if (report_devices().devices.empty()) return std::nullopt;
  Settings settings = settings_of(size, size);
  const Context context = on_devices();
  settings.fused_attention = transformer::has_fused_attention(context.device());
  Measured ours(context, settings);
  ours.prepare();
  Products products(context.subgroup({context.rank()}), settings, context.size());
  std::vector<Contender> contenders{{"partita", [&] { ours.pass_block(); }},
                                    {"its products", [&] { products.run(); }},
                                    {"its attention", [&] { ours.pass_attention(); }}};
  const bool beside_torch = add_python_peer(
      world, contenders, "PyTorch", {"torch_layer.py", std::to_string(size), std::to_string(context.size())});
  const std::vector<double> seconds = measure(world, contenders, options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = fmt::format("transformer-layer-{}/cuda/bf16", size);
  result.ranks = context.size();
  result.bytes = 12 * size * size * 2;
  result.ours_s = seconds[0] - seconds[2];
  result.peers["attention"] = seconds[2];
  result.peers["whole"] = seconds[0];
  if (beside_torch) result.peers["PyTorch's whole"] = seconds[3];
  result.bound = "its products";
  result.bound_s = seconds[1];
  return result;
}

std::optional<Result> softmax(const Context& world, const Options& options, std::int64_t size) {
  if (report_devices().devices.empty()) return std::nullopt;
  const Settings settings = settings_of(size, size);
  const Context context = on_devices();
  Measured ours(context, settings);
  // Forwards half is read and all written, twice; backwards half of both is read and all of one written: five
  // times all, of which a copy reads and writes two.
  const std::int64_t scores = settings.heads / context.size() * size * size, moved = scores / 2 * 5;
  const Context alone = context.subgroup({context.rank()});
  Array from = zeros(alone, {moved}, Replicated(), Dtype::bf16),
        to = empty(alone, {moved}, Replicated(), Dtype::bf16);
  const std::vector<double> seconds = measure(world,
                                              {{"partita", [&] { ours.pass_softmax(); }},
                                               {"its bytes copied",
                                                [&] {
                                                  copy(from, to, Stream{});
                                                  alone.synchronize();
                                                }}},
                                              options.runs);
  Result result;
  result.operation = "apps";
  result.benchmark = fmt::format("transformer-softmax-{}/cuda/bf16", size);
  result.ranks = context.size();
  result.bytes = settings.heads * size * size * 2;
  result.ours_s = seconds[0];
  result.bound = "its bytes copied";
  result.bound_s = seconds[1];
  return result;
}

}  // namespace

std::vector<Case> transformer_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* what, std::int64_t size, const auto& measured) {
    cases.push_back({"apps",
                     fmt::format("transformer-{}-{}/cuda/bf16", what, size),
                     {1, 2, 4},
                     [measured, size](const Context& context, const Options& options) {
                       return measured(context, options, size);
                     },
                     Device::Kind::cuda});
  };
  for (const std::int64_t size : {2048, 8192}) {
    add("softmax", size, softmax);
    add("layer", size, layer);
  }
  return cases;
}

}  // namespace partita::benchmarks
