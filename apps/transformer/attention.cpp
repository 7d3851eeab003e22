#include "transformer/attention.hpp"

#include <cmath>

#include "transformer/kernels.hpp"

namespace transformer {
namespace pt = partita;
namespace {

const std::vector<std::vector<std::string>> by_sequence_and_head{{"data"}, {"tensor"}, {}, {}};

}  // namespace

Attention::Attention(Operations& operations, const Settings& settings, const pt::Mesh& mesh)
    : operations_(&operations),
      heads_(pt::Partitioned{mesh, {by_sequence_and_head}},
             {settings.batch, settings.heads, settings.sequence, settings.head_size()}, mesh.size()),
      tensor_(mesh.axes()[1].size),
      scale_(1 / std::sqrt(static_cast<double>(settings.head_size()))) {
  const pt::Shape shape{settings.batch, settings.heads, settings.sequence, settings.sequence};
  const pt::Partitioned distribution{mesh, {by_sequence_and_head}};
  probabilities_ = operations.empty(shape, distribution, settings.dtype);
  gradient_ = operations.empty(shape, distribution, settings.dtype);
}

Heads Attention::heads(const Tensor& qkv, const Tensor& context) {
  const std::int64_t sequence = heads_.shape()[2], size = heads_.shape()[3];
  const std::int64_t own = heads_.shape()[1] / tensor_ * size;  // features of a rank
  const auto third = [&](std::int64_t which) {
    return operations_->as_strided(qkv, heads_, which * size, {sequence * 3 * own, 3 * size, 3 * own, 1});
  };
  return {third(0), third(1), third(2),
          operations_->as_strided(context, heads_, 0, {sequence * own, size, own, 1})};
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
  probabilities(heads);
  operations_->matmul(probabilities_, heads.value, nullptr, heads.context);
}

// P = softmax(S), S = scale Q K', C = P V:
// dV = P' dC, dP = dC V', dS = P (dP - sum(dP P)), dQ = scale dS K, dK = scale dS' Q
void Attention::backward(const Heads& heads, Heads& gradient) {
  probabilities(heads);
  operations_->matmul(probabilities_, gradient.context, nullptr, gradient.value, {.op_a = pt::Op::transpose});
  operations_->matmul(gradient.context, heads.value, nullptr, gradient_, {.op_b = pt::Op::transpose});
  softmax_backward();
  operations_->matmul(gradient_, heads.key, nullptr, gradient.query, {.alpha = scale_});
  operations_->matmul(gradient_, heads.query, nullptr, gradient.key,
                      {.op_a = pt::Op::transpose, .alpha = scale_});
}

}  // namespace transformer
