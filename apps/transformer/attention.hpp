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
};

/// softmax(Q K' / sqrt(head size)) V, and backwards. The probabilities are made twice rather than kept.
class Attention {
 public:
  Attention(Operations& operations, const Settings& settings, const partita::Mesh& mesh);

  /// `qkv` [3 hidden, tokens] and `context` [hidden, tokens], features cut along "tensor" and tokens along
  /// "data".
  Heads heads(const Tensor& qkv, const Tensor& context);
  void forward(Heads& heads);
  /// `gradient.context` is given; the others are made.
  void backward(const Heads& heads, Heads& gradient);
  /// The softmax of both alone, of whatever numbers are there.
  void pass_softmax();

 private:
  void probabilities(const Heads& heads);
  void softmax();
  void softmax_backward();

  Operations* operations_;
  partita::Layout heads_;  ///< [batch, heads, sequence, head size]
  std::int64_t tensor_;    ///< ranks along "tensor"
  double scale_;
  Tensor probabilities_, gradient_;  ///< [batch, heads, sequence, sequence]
};

}  // namespace transformer
