// What a rank computes on its own part, in addition to products: in the order of the queue. Tensors of
// features by tokens are column-major: the features of a token are adjacent. Numbers of bf16 are computed
// in f32 and rounded when they are written; "wide" is f32 for bf16, and the dtype itself otherwise.
#pragma once

#include <cstdint>
#include <partita/view.hpp>

#include "device/queue.hpp"
#include "transformer/formulas.hpp"

namespace transformer {

/// Column by column y = (1 + gain) (x - mean) / sqrt(variance + 1e-5) + bias (Ba, Kiros and Hinton 2016).
/// `norms` is [.., 2, features]: gain and bias of the layer norm of this number.
void layer_norm(const partita::View& x, const partita::View& norms, std::int64_t number,
                const partita::View& y, const on_device::Queue& queue);

/// Tokens are summed up in so many chunks on a device.
constexpr int norm_chunks = 8;

/// What `layer_norm_backward` reads and writes.
struct NormGradient {
  partita::View x, norms;
  partita::View dy;        ///< the gradient of y
  partita::View dx;        ///< to which that of x is added
  partita::View gradient;  ///< wide; a rank's contribution to that of gain and bias becomes the norm's place
  partita::View moments;   ///< wide, [2, tokens]; undefined before and after, as all that follows
  partita::View sums;      ///< wide, [norm_chunks, 2, features]
};
void layer_norm_backward(const NormGradient& arrays, std::int64_t number, const on_device::Queue& queue);

/// Each row of the last dimension of `scores` [.., queries, keys] becomes its softmax over the keys up to the
/// query's own, and 0 beyond.
void causal_softmax(const partita::View& scores, const on_device::Queue& queue);

/// `gradient`, that of such probabilities, becomes that of the scores: 0 beyond, whatever was there.
void causal_softmax_backward(const partita::View& probabilities, const partita::View& gradient,
                             const on_device::Queue& queue);

/// Causal attention by heads, all but `logarithms` [batch, heads, tokens, size] of any strides, `size`
/// numbers adjacent. Scores are not stored in memory.
struct AttentionViews {
  partita::View query, key, value;
  partita::View context;     ///< softmax(scale query key') value, of the keys up to the query's own
  partita::View logarithms;  ///< wide, [batch, heads, tokens]: of the sums that softmax divides by
};
/// Whether a device has these kernels, for bf16 and sizes that are multiples of 8 up to 128; the host has
/// them for all.
bool has_fused_attention(const partita::Device& device);

/// Makes `context` and `logarithms`.
void causal_attention(const AttentionViews& arrays, double scale, const on_device::Queue& queue);

/// Gradients of what has the same names.
struct AttentionGradient {
  partita::View query, key, value;  ///< become this
  partita::View context;            ///< which is given
  partita::View lines;  ///< wide, [batch, heads, attention_lines_of(tokens)]; undefined before and after
};
constexpr std::int64_t attention_lines_of(std::int64_t tokens) {
  return (tokens + 127) / 128 * 128 * 2;
}
void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient, double scale,
                               const on_device::Queue& queue);

/// Columns become two ones and zeros: the i-th of them, column first + i of the global array, at tokens[i],
/// and at `vocabulary` + its place in a sequence of that length.
void one_hot(const partita::View& tokens, std::int64_t first, std::int64_t sequence,
             const partita::View& columns, const on_device::Queue& queue);

/// losses[i], of f64, becomes -log softmax(column i of logits)[targets[i]]; `logits` become its gradient,
/// times `scale`.
void cross_entropy(const partita::View& logits, const partita::View& targets, double scale,
                   const partita::View& losses, const on_device::Queue& queue);

/// sum[0] = factor times the sum of all terms, of f64.
void sum_up(const partita::View& terms, double factor, const partita::View& sum,
            const on_device::Queue& queue);

/// Parts of a parameter, dense, of equal layout. All but `rounded` are wide.
struct AdamParts {
  partita::View master, gradient, first, second;
  partita::View rounded;  ///< what products read of it; no data: that is `master`
};
/// One step of Adam (Kingma and Ba 2015).
void adam(const AdamParts& parts, const AdamRates& rates, const on_device::Queue& queue);

/// to = from, rounded; dense parts of equal layout.
void round_to(const partita::View& from, const partita::View& to, const on_device::Queue& queue);

}  // namespace transformer
