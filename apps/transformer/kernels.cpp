#include "transformer/kernels.hpp"

#include "transformer/kernel_forms.hpp"

namespace transformer {
namespace pt = partita;
using on_device::launch;
using on_device::Queue;

void layer_norm(const pt::View& x, const pt::View& norms, std::int64_t number, const pt::View& y,
                const Queue& queue) {
  launch(
      queue, [=] { host::layer_norm(x, norms, number, y); },
      [&](void* stream) { cuda::layer_norm(x, norms, number, y, stream); });
}

void layer_norm_backward(const NormGradient& arrays, std::int64_t number, const Queue& queue) {
  launch(
      queue, [=] { host::layer_norm_backward(arrays, number); },
      [&](void* stream) { cuda::layer_norm_backward(arrays, number, stream); });
}

void causal_softmax(const pt::View& scores, const Queue& queue) {
  launch(
      queue, [=] { host::causal_softmax(scores); },
      [&](void* stream) { cuda::causal_softmax(scores, stream); });
}

void causal_softmax_backward(const pt::View& probabilities, const pt::View& gradient, const Queue& queue) {
  launch(
      queue, [=] { host::causal_softmax_backward(probabilities, gradient); },
      [&](void* stream) { cuda::causal_softmax_backward(probabilities, gradient, stream); });
}

bool has_fused_attention(const pt::Device& device) {
  if (device.kind != pt::Device::Kind::cuda) return false;
  return on_device::host_put() || cuda::has_fused_attention(device.index);
}

void causal_attention(const AttentionViews& arrays, double scale, const Queue& queue) {
  launch(
      queue, [=] { host::causal_attention(arrays, scale); },
      [&](void* stream) { cuda::causal_attention(arrays, scale, stream); });
}

void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient, double scale,
                               const Queue& queue) {
  launch(
      queue, [=] { host::causal_attention_backward(arrays, gradient, scale); },
      [&](void* stream) { cuda::causal_attention_backward(arrays, gradient, scale, stream); });
}

void one_hot(const pt::View& tokens, std::int64_t first, std::int64_t sequence, const pt::View& columns,
             const Queue& queue) {
  launch(
      queue, [=] { host::one_hot(tokens, first, sequence, columns); },
      [&](void* stream) { cuda::one_hot(tokens, first, sequence, columns, stream); });
}

void cross_entropy(const pt::View& logits, const pt::View& targets, double scale, const pt::View& losses,
                   const Queue& queue) {
  launch(
      queue, [=] { host::cross_entropy(logits, targets, scale, losses); },
      [&](void* stream) { cuda::cross_entropy(logits, targets, scale, losses, stream); });
}

void sum_up(const pt::View& terms, double factor, const pt::View& sum, const Queue& queue) {
  launch(
      queue, [=] { host::sum_up(terms, factor, sum); },
      [&](void* stream) { cuda::sum_up(terms, factor, sum, stream); });
}

void adam(const AdamParts& parts, const AdamRates& rates, const Queue& queue) {
  launch(
      queue, [=] { host::adam(parts, rates); }, [&](void* stream) { cuda::adam(parts, rates, stream); });
}

void round_to(const pt::View& from, const pt::View& to, const Queue& queue) {
  launch(
      queue, [=] { host::round_to(from, to); }, [&](void* stream) { cuda::round_to(from, to, stream); });
}

}  // namespace transformer
