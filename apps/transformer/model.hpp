// A decoder-only language model of bytes (Vaswani et al. 2017; norms before attention and perceptron, as in
// GPT-2), with its gradients written out.
//
// Everything is an array on one mesh of ranks, "data" by "tensor", and each product is one `matmul` of
// differently cut arrays: what has to be gathered, summed or scattered for it follows from the layouts.
//
//   residual stream, norms    [hidden, tokens]    tokens over data and tensor ("sequence parallel")
//   queries, keys, values     [3 hidden, tokens]  heads over tensor, sequences over data
//   inside of the perceptron  [4 hidden, tokens]  features over tensor, sequences over data
//   weights                   rows or columns over tensor (Shoeybi et al. 2019), the same along data
//   gradients, Adam's state   over all ranks
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transformer/attention.hpp"
#include "transformer/operations.hpp"
#include "transformer/parameters.hpp"
#include "transformer/settings.hpp"

namespace transformer {

/// Some text: for each sequence its tokens and one more, the target of the last. The same on all ranks.
using Batch = std::vector<std::uint8_t>;

/// All members but `settings`, `parameters`, `pass_attention` and `pass_softmax` are collective.
class Model {
 public:
  /// Weights are undefined: `parameters().initialize` or `read_checkpoint`. Throws ArgumentError as
  /// `checked`.
  Model(Operations& operations, const Settings& settings, const partita::Mesh& mesh)
      : Model(operations, settings, Parameters(operations, mesh, settings)) {}
  /// The same model for other batches: it shares these parameters.
  Model(Operations& operations, const Settings& settings, const Parameters& parameters);

  /// The mean over all tokens of -log(probability of the next one), in nats; on every rank.
  double loss(const Batch& batch);
  /// The same, and its gradient by all parameters.
  double gradients(const Batch& batch);
  /// The same, and a step of Adam, of this number (counted from 1).
  double train(const Batch& batch, std::int64_t step);
  /// [vocabulary, tokens], cut along tokens: what the tokens that are given (as many as `loss` takes, without
  /// targets) say of the next ones.
  const Tensor& logits(std::span<const std::uint8_t> tokens);

  /// The first block alone, forwards and backwards, with what the last `gradients` left: for who measures.
  void pass_block();
  /// Its attention alone.
  void pass_attention();
  /// The softmax of attention by products alone: twice forwards, as the probabilities are made twice, and
  /// once backwards.
  void pass_softmax() { attention_.pass_softmax(); }

  const Settings& settings() const { return settings_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

 private:
  /// Numbers of parameters.
  struct Weights {
    std::size_t qkv, qkv_bias, output, output_bias, up, up_bias, down, down_bias;
  };
  /// What is kept of a block until its gradients are made.
  struct Block {
    Weights weights;
    Tensor qkv, context;
    Heads heads;
    Tensor middle;  ///< of the residual stream, between attention and perceptron
    Tensor inside;  ///< of the perceptron, before its activation
    Tensor hidden;  ///< and after it
    Tensor out;     ///< of the residual stream
  };

  Tensor by_tokens(std::int64_t features);    ///< tokens over all ranks
  Tensor by_features(std::int64_t features);  ///< features over tensor, tokens over data
  Tensor one_by_token(partita::Dtype dtype);  ///< tokens over all ranks
  Weights add_weights(std::int64_t layer);
  Block make_block(std::int64_t layer);

  void look_at(const Batch& batch);
  void put(std::span<const std::uint8_t> tokens, Tensor& to);
  void forward();
  void forward(Block& block, const Tensor& in, std::int64_t norm);
  void backward(Block& block, const Tensor& in, std::int64_t norm);
  void compare();
  double mean_loss();
  void backward();
  void normalize(const Tensor& x, std::int64_t norm);
  void normalize_backward(const Tensor& x, std::int64_t norm);

  Operations* operations_;
  Settings settings_;
  Parameters parameters_;
  partita::Mesh mesh_;
  Attention attention_;
  std::size_t embedding_, head_, norms_;
  Tensor tokens_, targets_;
  Tensor one_hot_;  ///< [vocabulary + sequence, tokens]
  Tensor in_;       ///< of the residual stream
  std::vector<Block> blocks_;
  Tensor normed_, logits_;
  Tensor losses_;             ///< of each token
  Tensor loss_, total_loss_;  ///< of a rank, and of all
  // Gradients of what has the same name, one block after the other.
  Tensor stream_gradient_, normed_gradient_, qkv_gradient_, context_gradient_, inside_gradient_;
  Heads heads_gradient_;
  Tensor norms_gradient_;              ///< each rank's contribution
  Tensor norms_moments_, norms_sums_;  ///< of the tokens of a rank
};

}  // namespace transformer
