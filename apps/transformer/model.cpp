#include "transformer/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "transformer/kernels.hpp"

namespace transformer {
namespace pt = partita;
namespace {

using Strings = std::vector<std::string>;
const Strings all_ranks{"data", "tensor"}, tensor_then_data{"tensor", "data"};

/// Of the first weights, as PyTorch's linear layers have it; of 768 features, 0.02.
double first_deviation(std::int64_t features) {
  return 1 / std::sqrt(3 * static_cast<double>(features));
}

const pt::MatmulOptions with_bias{.epilogue = pt::Epilogue::bias};
const pt::MatmulOptions onto_stream{.beta = 1, .epilogue = pt::Epilogue::bias};
const pt::MatmulOptions into_perceptron{.epilogue = pt::Epilogue::gelu_bias_aux};
const pt::MatmulOptions out_of_perceptron{.op_a = pt::Op::transpose,
                                          .epilogue = pt::Epilogue::dgelu_bias_gradient};
const pt::MatmulOptions transposed{.op_a = pt::Op::transpose};
const pt::MatmulOptions of_weights{.op_b = pt::Op::transpose};
const pt::MatmulOptions of_weights_and_bias{.op_b = pt::Op::transpose,
                                            .epilogue = pt::Epilogue::bias_gradient_a};

/// Sums that several ranks make of d travel in its dtype.
pt::MatmulOptions reduced_into(const Tensor& d, pt::MatmulOptions options) {
  options.reduce_dtype = d.operand().dtype;
  return options;
}

/// Each sequence without its last token, or without its first.
Batch part_of(const Batch& batch, std::int64_t sequence, std::int64_t first) {
  Batch part;
  for (auto at = batch.begin(); at != batch.end(); at += sequence + 1) {
    part.insert(part.end(), at + first, at + first + sequence);
  }
  return part;
}

Batch own(std::span<const std::uint8_t> tokens, const std::vector<std::int64_t>& indices) {
  Batch part;
  for (const std::int64_t index : indices) part.push_back(tokens[static_cast<std::size_t>(index)]);
  return part;
}

}  // namespace

Model::Model(Operations& operations, const Settings& settings, const Parameters& parameters)
    : operations_(&operations),
      settings_(checked(settings, parameters.mesh())),
      parameters_(parameters),
      mesh_(parameters.mesh()),
      attention_(operations, settings, mesh_) {
  const std::int64_t hidden = settings.hidden, places = vocabulary + settings.sequence;
  const Cuts whole{{}, {}}, rows{all_ranks, {}};
  const double deviation = first_deviation(hidden);
  embedding_ = parameters_.add({"embedding", {hidden, places}, whole, rows, deviation});
  head_ = parameters_.add({"head", {vocabulary, hidden}, whole, rows, deviation});
  norms_ =
      parameters_.add({"norms", {2 * settings.layers + 1, 2, hidden}, {{}, {}, {}}, {{}, {}, all_ranks}});
  one_hot_ = by_tokens(places);
  in_ = by_tokens(hidden);
  for (std::int64_t layer = 0; layer < settings.layers; ++layer) blocks_.push_back(make_block(layer));
  normed_ = by_tokens(hidden);
  logits_ = by_tokens(vocabulary);
  tokens_ = one_by_token(pt::Dtype::u8);
  targets_ = one_by_token(pt::Dtype::u8);
  losses_ = one_by_token(pt::Dtype::f64);
  loss_ = operations.empty({1}, pt::Partitioned{mesh_, {{{}}, all_ranks}}, pt::Dtype::f64);
  total_loss_ = operations.empty({1}, pt::Replicated(), pt::Dtype::f64);
  stream_gradient_ = by_tokens(hidden);
  normed_gradient_ = by_tokens(hidden);
  qkv_gradient_ = by_features(3 * hidden);
  context_gradient_ = by_features(hidden);
  inside_gradient_ = by_features(4 * hidden);
  heads_gradient_ = attention_.gradients(qkv_gradient_, context_gradient_);
  norms_gradient_ = operations.empty(parameters_[norms_].weight.shape(),
                                     pt::Partitioned{mesh_, {{{}, {}, {}}, all_ranks}}, settings.wide());
  norms_moments_ = operations.empty({2, settings.tokens()}, pt::Partitioned{mesh_, {{{}, all_ranks}}},
                                    settings.wide(), pt::Order::column_major);
  norms_sums_ = operations.empty({norm_chunks, 2, hidden}, pt::Replicated(), settings.wide());
}

Tensor Model::by_tokens(std::int64_t features) {
  return operations_->empty({features, settings_.tokens()}, pt::Partitioned{mesh_, {{{}, all_ranks}}},
                            settings_.dtype, pt::Order::column_major);
}

Tensor Model::one_by_token(pt::Dtype dtype) {
  return operations_->empty({settings_.tokens()}, pt::Partitioned{mesh_, {{all_ranks}}}, dtype);
}

Tensor Model::by_features(std::int64_t features) {
  return operations_->empty({features, settings_.tokens()}, pt::Partitioned{mesh_, {{{"tensor"}, {"data"}}}},
                            settings_.dtype, pt::Order::column_major);
}

// What widens is cut by rows, so that its heads and features are whole on a rank; what narrows by columns, as
// what it reads is.
Model::Weights Model::add_weights(std::int64_t layer) {
  const std::int64_t h = settings_.hidden;
  const Cuts rows{{"tensor"}, {}}, row_shards{tensor_then_data, {}};
  const Cuts columns{{}, {"tensor"}}, column_shards{{}, tensor_then_data};
  const double first = first_deviation(h),
               last = first / std::sqrt(2. * static_cast<double>(settings_.layers));
  const auto add = [&](const char* name, const pt::Shape& shape, const Cuts& cuts, const Cuts& shards,
                       double deviation) {
    return parameters_.add({fmt::format("blocks/{}/{}", layer, name), shape, cuts, shards, deviation});
  };
  const auto bias = [&](const char* name, std::int64_t size, const Strings& axes) {
    return add(name, {size}, {axes}, {axes}, 0);
  };
  Weights weights{};
  weights.qkv = add("qkv", {3 * h, h}, rows, row_shards, first);
  weights.qkv_bias = bias("qkv_bias", 3 * h, tensor_then_data);
  weights.output = add("output", {h, h}, columns, column_shards, last);
  weights.output_bias = bias("output_bias", h, all_ranks);
  weights.up = add("up", {4 * h, h}, rows, row_shards, first);
  weights.up_bias = bias("up_bias", 4 * h, tensor_then_data);
  weights.down = add("down", {h, 4 * h}, columns, column_shards, last);
  weights.down_bias = bias("down_bias", h, all_ranks);
  return weights;
}

Model::Block Model::make_block(std::int64_t layer) {
  const std::int64_t hidden = settings_.hidden;
  Block block;
  block.weights = add_weights(layer);
  block.qkv = by_features(3 * hidden);
  block.context = by_features(hidden);
  block.heads = attention_.heads(block.qkv, block.context);
  block.middle = by_tokens(hidden);
  block.inside = by_features(4 * hidden);
  block.hidden = by_features(4 * hidden);
  block.out = by_tokens(hidden);
  return block;
}

double Model::loss(const Batch& batch) {
  look_at(batch);
  return mean_loss();
}

double Model::gradients(const Batch& batch) {
  look_at(batch);
  backward();
  return mean_loss();
}

double Model::train(const Batch& batch, std::int64_t step) {
  look_at(batch);
  backward();
  const double grown =
      static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, settings_.warm_up));
  parameters_.update(settings_.learning_rate * std::min(1., grown), step);
  return mean_loss();
}

const Tensor& Model::logits(std::span<const std::uint8_t> tokens) {
  put(tokens, tokens_);
  forward();
  return logits_;
}

void Model::pass_block() {
  forward(blocks_.front(), in_, 0);
  backward(blocks_.front(), in_, 0);
}

void Model::pass_attention() {
  attention_.forward(blocks_.front().heads);
  attention_.backward(blocks_.front().heads, heads_gradient_);
}

/// Both are put before anything else: what comes from the host waits for what its stream has been given.
void Model::look_at(const Batch& batch) {
  put(part_of(batch, settings_.sequence, 0), tokens_);
  put(part_of(batch, settings_.sequence, 1), targets_);
  forward();
  compare();
}

/// Each rank its own.
void Model::put(std::span<const std::uint8_t> tokens, Tensor& to) {
  operations_->pass({&to}, [&](const on_device::Queue& queue) {
    const Batch part = own(tokens, pt::local_indices(to.array(), 0));
    pt::copy(pt::view(part), to.array(), queue.stream);
  });
}

void Model::normalize(const Tensor& x, std::int64_t norm) {
  const Tensor& norms = parameters_[norms_].weight;
  operations_->pass({&x, &normed_}, [&](const on_device::Queue& queue) {
    layer_norm(x.local(), norms.local(), norm, normed_.local(), queue);
  });
}

/// From the gradient of what `normalize` makes to that of the stream, to which it is added.
void Model::normalize_backward(const Tensor& x, std::int64_t norm) {
  const Tensor& norms = parameters_[norms_].weight;
  operations_->pass(
      {&x, &normed_gradient_, &stream_gradient_, &stream_gradient_}, [&](const on_device::Queue& queue) {
        layer_norm_backward({x.local(), norms.local(), normed_gradient_.local(), stream_gradient_.local(),
                             norms_gradient_.local(), norms_moments_.local(), norms_sums_.local()},
                            norm, queue);
      });
}

// A token's vector and its position's, taken from a table by a product with two ones a column: backwards it
// is a product, too, which sums up in the same order whatever the tokens are.
void Model::forward() {
  operations_->pass({&one_hot_}, [&](const on_device::Queue& queue) {
    const std::vector<std::int64_t> columns = pt::local_indices(one_hot_.array(), 1);
    one_hot(tokens_.local(), columns.empty() ? 0 : columns.front(), settings_.sequence, one_hot_.local(),
            queue);
  });
  operations_->matmul(parameters_[embedding_].weight, one_hot_, nullptr, in_);
  const Tensor* in = &in_;
  std::int64_t norm = 0;
  for (Block& block : blocks_) {
    forward(block, *in, norm);
    in = &block.out;
    norm += 2;
  }
  normalize(*in, norm);
  operations_->matmul(parameters_[head_].weight, normed_, nullptr, logits_);
}

void Model::forward(Block& block, const Tensor& in, std::int64_t norm) {
  const auto weight = [&](std::size_t number) -> const Tensor& { return parameters_[number].weight; };
  const Weights& w = block.weights;
  normalize(in, norm);
  operations_->matmul(weight(w.qkv), normed_, nullptr, block.qkv, with_bias, {&weight(w.qkv_bias)});
  attention_.forward(block.heads);
  operations_->matmul(weight(w.output), block.context, &in, block.middle,
                      reduced_into(block.middle, onto_stream), {&weight(w.output_bias)});
  normalize(block.middle, norm + 1);
  operations_->matmul(weight(w.up), normed_, nullptr, block.hidden, into_perceptron,
                      {&weight(w.up_bias), &block.inside});
  operations_->matmul(weight(w.down), block.hidden, &block.middle, block.out,
                      reduced_into(block.out, onto_stream), {&weight(w.down_bias)});
}

/// Leaves the logits' gradient in their place.
void Model::compare() {
  const double each = 1 / static_cast<double>(settings_.tokens());
  operations_->pass({&logits_, &logits_}, [&](const on_device::Queue& queue) {
    cross_entropy(logits_.local(), targets_.local(), each, losses_.local(), queue);
  });
  operations_->pass({&losses_}, [&](const on_device::Queue& queue) {
    sum_up(losses_.local(), each, loss_.local(), queue);
  });
  operations_->redistribute(loss_, total_loss_);
}

/// Of the last comparison. On a device the host waits for it, and for all that came before.
double Model::mean_loss() {
  double mean = 0;
  operations_->pass({}, [&](const on_device::Queue& queue) {
    std::array<double, 1> number{};
    pt::copy(total_loss_.array(), pt::view(number), queue.stream);
    mean = number.front();
  });
  return mean;
}

void Model::backward() {
  Parameter &head = parameters_[head_], &embedding = parameters_[embedding_];
  operations_->matmul(logits_, normed_, nullptr, head.gradient, of_weights);
  operations_->matmul(head.weight, logits_, nullptr, normed_gradient_, transposed);
  set_to_zero(*operations_, stream_gradient_);
  normalize_backward(blocks_.back().out, 2 * settings_.layers);
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    backward(blocks_[i], i == 0 ? in_ : blocks_[i - 1].out, 2 * static_cast<std::int64_t>(i));
  }
  operations_->matmul(stream_gradient_, one_hot_, nullptr, embedding.gradient, of_weights);
  operations_->redistribute(norms_gradient_, parameters_[norms_].gradient);
}

void Model::backward(Block& block, const Tensor& in, std::int64_t norm) {
  const auto weight = [&](std::size_t number) -> const Tensor& { return parameters_[number].weight; };
  const auto gradient = [&](std::size_t number) -> Tensor& { return parameters_[number].gradient; };
  const Weights& w = block.weights;
  operations_->matmul(stream_gradient_, block.hidden, nullptr, gradient(w.down), of_weights_and_bias,
                      {nullptr, nullptr, &gradient(w.down_bias)});
  operations_->matmul(weight(w.down), stream_gradient_, nullptr, inside_gradient_, out_of_perceptron,
                      {nullptr, &block.inside, &gradient(w.up_bias)});
  normalize(block.middle, norm + 1);
  operations_->matmul(inside_gradient_, normed_, nullptr, gradient(w.up), of_weights);
  operations_->matmul(weight(w.up), inside_gradient_, nullptr, normed_gradient_,
                      reduced_into(normed_gradient_, transposed));
  normalize_backward(block.middle, norm + 1);

  operations_->matmul(stream_gradient_, block.context, nullptr, gradient(w.output), of_weights_and_bias,
                      {nullptr, nullptr, &gradient(w.output_bias)});
  operations_->matmul(weight(w.output), stream_gradient_, nullptr, context_gradient_, transposed);
  attention_.backward(block.heads, heads_gradient_);
  normalize(in, norm);
  operations_->matmul(qkv_gradient_, normed_, nullptr, gradient(w.qkv), of_weights_and_bias,
                      {nullptr, nullptr, &gradient(w.qkv_bias)});
  operations_->matmul(weight(w.qkv), qkv_gradient_, nullptr, normed_gradient_,
                      reduced_into(normed_gradient_, transposed));
  normalize_backward(in, norm);
}

}  // namespace transformer
