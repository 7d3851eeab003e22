#include "transformer/attention.hpp"

#include <cmath>

#include "transformer/kernels.hpp"

namespace transformer {
namespace pt = partita;
namespace {

using Cut = std::vector<std::vector<std::string>>;

/// The first two of so many dimensions are sequences and heads.
pt::Partitioned by_sequence_and_head(const pt::Mesh& mesh, std::size_t dimensions) {
  Cut cut{{"data"}, {"tensor"}};
  cut.resize(dimensions);
  return pt::Partitioned{mesh, {cut}};
}

AttentionViews views(const Heads& heads) {
  return {heads.query.local(), heads.key.local(), heads.value.local(), heads.context.local(),
          heads.logarithms.local()};
}

}  // namespace

Attention::Attention(Operations& operations, const Settings& settings, const pt::Mesh& mesh)
    : operations_(&operations),
      mesh_(mesh),
      heads_(by_sequence_and_head(mesh, 4),
             {settings.batch, settings.heads, settings.sequence, settings.head_size()}, mesh.size()),
      wide_(settings.wide()),
      tensor_(mesh.axes()[1].size),
      scale_(1 / std::sqrt(static_cast<double>(settings.head_size()))),
      fused_(settings.fused_attention) {
  if (fused_) {
    lines_ = operations.empty({settings.batch, settings.heads, attention_lines_of(settings.sequence)},
                              by_sequence_and_head(mesh, 3), wide_);
    return;
  }
  const pt::Shape shape{settings.batch, settings.heads, settings.sequence, settings.sequence};
  const pt::Partitioned distribution = by_sequence_and_head(mesh, 4);
  probabilities_ = operations.empty(shape, distribution, settings.dtype);
  gradient_ = operations.empty(shape, distribution, settings.dtype);
}

Heads Attention::heads(const Tensor& qkv, const Tensor& context) {
  Heads heads = gradients(qkv, context);
  if (!fused_) return heads;
  const pt::Shape& shape = heads_.shape();
  heads.logarithms =
      operations_->empty({shape[0], shape[1], shape[2]}, by_sequence_and_head(mesh_, 3), wide_);
  return heads;
}

Heads Attention::gradients(const Tensor& qkv, const Tensor& context) {
  const std::int64_t sequence = heads_.shape()[2], size = heads_.shape()[3];
  const std::int64_t own = heads_.shape()[1] / tensor_ * size;  // features of a rank
  const auto third = [&](std::int64_t which) {
    return operations_->as_strided(qkv, heads_, which * size, {sequence * 3 * own, 3 * size, 3 * own, 1});
  };
  return {third(0), third(1), third(2),
          operations_->as_strided(context, heads_, 0, {sequence * own, size, own, 1}), Tensor()};
}

// Of n queries n (n + 1) / 2 see a key.
double Attention::flops(int products) const {
  const pt::Shape& shape = heads_.shape();
  const auto seen = static_cast<double>(shape[2] * (shape[2] + 1));
  return products * seen / static_cast<double>(shape[2]) * static_cast<double>(heads_.largest_local_size());
}

void Attention::probabilities(const Heads& heads) {
  operations_->matmul(heads.query, heads.key, nullptr, probabilities_,
                      {.op_b = pt::Op::transpose, .alpha = scale_});
  softmax();
}

void Attention::softmax() {
  operations_->pass({&probabilities_},
                    [&](const on_device::Queue& queue) { causal_softmax(probabilities_.local(), queue); });
}

void Attention::softmax_backward() {
  operations_->pass({&probabilities_, &gradient_}, [&](const on_device::Queue& queue) {
    causal_softmax_backward(probabilities_.local(), gradient_.local(), queue);
  });
}

void Attention::pass_softmax() {
  softmax();
  softmax();
  softmax_backward();
}

void Attention::forward(Heads& heads) {
  if (!fused_) return forward_by_products(heads);
  operations_->pass(
      {&heads.query, &heads.key, &heads.value, &heads.context, &heads.logarithms},
      [&](const on_device::Queue& queue) { causal_attention(views(heads), scale_, queue); }, flops(2));
}

void Attention::backward(const Heads& heads, Heads& gradient) {
  if (!fused_) return backward_by_products(heads, gradient);
  operations_->pass(
      {&heads.query, &heads.key, &heads.value, &heads.context, &heads.logarithms, &gradient.context,
       &gradient.query, &gradient.key, &gradient.value, &lines_},
      [&](const on_device::Queue& queue) {
        const AttentionGradient arrays{gradient.query.local(), gradient.key.local(), gradient.value.local(),
                                       gradient.context.local(), lines_.local()};
        causal_attention_backward(views(heads), arrays, scale_, queue);
      },
      flops(7));
}

void Attention::forward_by_products(Heads& heads) {
  probabilities(heads);
  operations_->matmul(probabilities_, heads.value, nullptr, heads.context);
}

// P = softmax(S), S = scale Q K', C = P V:
// dV = P' dC, dP = dC V', dS = P (dP - sum(dP P)), dQ = scale dS K, dK = scale dS' Q
void Attention::backward_by_products(const Heads& heads, Heads& gradient) {
  probabilities(heads);
  operations_->matmul(probabilities_, gradient.context, nullptr, gradient.value, {.op_a = pt::Op::transpose});
  operations_->matmul(gradient.context, heads.value, nullptr, gradient_, {.op_b = pt::Op::transpose});
  softmax_backward();
  operations_->matmul(gradient_, heads.key, nullptr, gradient.query, {.alpha = scale_});
  operations_->matmul(gradient_, heads.query, nullptr, gradient.key,
                      {.op_a = pt::Op::transpose, .alpha = scale_});
}

}  // namespace transformer
