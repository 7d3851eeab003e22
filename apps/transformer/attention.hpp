// Causal attention by heads, each rank with its own: nothing moves.
#pragma once

#include "transformer/operations.hpp"
#include "transformer/settings.hpp"

namespace transformer {

/// Queries, keys and values of one layer, and what comes out, as matrices of [sequence, head size] for each
/// sequence and head: views of the tensors that products make of all features.
struct Heads {
  Tensor query, key, value;  ///< of [3 hidden, tokens]: head by head its three, one after the other
  Tensor context;            ///< of [hidden, tokens]
  /// Wide, [batch, heads, sequence]: of the sums that softmax divides by, which is all that fused attention
  /// keeps of the probabilities.
  Tensor logarithms;
};

/// softmax(Q K' / sqrt(head size)) V, and backwards: by kernels that make no scores in memory
/// (`Settings::fused_attention`), or by products, with the probabilities made twice rather than kept.
class Attention {
 public:
  Attention(Operations& operations, const Settings& settings, const partita::Mesh& mesh);

  /// `qkv` [3 hidden, tokens] and `context` [hidden, tokens], features cut along "tensor" and tokens along
  /// "data". The forward pass...
  Heads heads(const Tensor& qkv, const Tensor& context);
  /// ...and of gradients, which have no logarithms.
  Heads gradients(const Tensor& qkv, const Tensor& context);
  void forward(Heads& heads);
  /// `gradient.context` is given; the others are made.
  void backward(const Heads& heads, Heads& gradient);
  /// The softmax of both alone, of whatever numbers are there. Not where attention is fused.
  void pass_softmax();

 private:
  /// Floating-point operations of so many products of one head's queries and keys, those of them that are
  /// seen.
  double flops(int products) const;
  void forward_by_products(Heads& heads);
  void backward_by_products(const Heads& heads, Heads& gradient);
  void probabilities(const Heads& heads);
  void softmax();
  void softmax_backward();

  Operations* operations_;
  partita::Mesh mesh_;
  partita::Layout heads_;  ///< [batch, heads, sequence, head size]
  partita::Dtype wide_;
  std::int64_t tensor_;  ///< ranks along "tensor"
  double scale_;
  bool fused_;
  Tensor lines_;                     ///< where it is fused: of the gradients' kernels
  Tensor probabilities_, gradient_;  ///< where it is not: [batch, heads, sequence, sequence]
};

}  // namespace transformer
