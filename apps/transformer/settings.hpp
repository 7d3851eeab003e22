// What a model is, and what it is trained with.
#pragma once

#include <cstdint>
#include <partita/partita.hpp>
#include <string>

namespace transformer {

constexpr std::int64_t vocabulary = 256;  ///< tokens are bytes

struct Settings {
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t hidden = 128;   ///< features of a token; a multiple of the heads
  std::int64_t sequence = 32;  ///< sequence length in tokens
  std::int64_t batch = 32;     ///< sequences per step, over all ranks
  std::uint64_t seed = 1;      ///< of the first weights, and of which parts of the text are read
  double learning_rate = 3e-3;
  std::int64_t warm_up = 20;  ///< steps in which the rate grows to that
  /// Of weights and activations: f32, bf16, or f64, which tests take.
  partita::Dtype dtype = partita::Dtype::f32;
  /// Attention by fused kernels, without scores in memory; else by products and softmax.
  bool fused_attention = false;

  std::int64_t tokens() const { return batch * sequence; }
  std::int64_t head_size() const { return hidden / heads; }
  /// Of what is summed and corrected over many steps (gradients of weights, Adam's state): f32 for bf16.
  partita::Dtype wide() const;
  /// Whether devices that have these kernels have them for this.
  bool can_fuse_attention() const;
  std::int64_t parameters() const;  ///< how many numbers are learned
  /// All of it in one line: two models are of one kind where it is equal.
  std::string text() const;
};

/// bf16 on GPUs, f32 elsewhere.
partita::Dtype usual_dtype(const partita::Device& device);

/// Ranks by two axes: "data", along which sequences are distributed, and "tensor", along which weights are.
/// The ranks of one "tensor" line are adjacent. Throws ArgumentError if `data` does not divide the ranks.
partita::Mesh mesh_of(int ranks, int data);

/// The settings. Throws ArgumentError where the model cannot be, or not on this mesh: sequences and heads
/// stay whole.
const Settings& checked(const Settings& settings, const partita::Mesh& mesh);

}  // namespace transformer
