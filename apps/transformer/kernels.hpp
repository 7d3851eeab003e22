// What a rank computes on its own part, beside products: in host memory, of f32 or f64. Tensors of features
// by tokens are column-major: the features of a token lie side by side.
#pragma once

#include <cstdint>
#include <partita/view.hpp>
#include <span>

namespace transformer {

/// Of a dense view.
void set_to_zero(const partita::View& view);

/// Column by column y = (1 + gain) (x - mean) / sqrt(variance + 1e-5) + bias (Ba, Kiros and Hinton 2016).
/// `norms` is [.., 2, features]: gain and bias of the layer norm of this number.
void layer_norm(const partita::View& x, const partita::View& norms, std::int64_t number,
                const partita::View& y);

/// dx += the gradient of x for the gradient dy of y, and the layer norm's place in `gradient` becomes this
/// rank's contribution to that of gain and bias.
void layer_norm_backward(const partita::View& x, const partita::View& norms, std::int64_t number,
                         const partita::View& dy, const partita::View& dx, const partita::View& gradient);

/// Each row of the last dimension of `scores` [.., queries, keys] becomes its softmax over the keys up to the
/// query's own, and 0 beyond.
void causal_softmax(const partita::View& scores);

/// `gradient`, that of the probabilities, becomes that of the scores.
void softmax_backward(const partita::View& probabilities, const partita::View& gradient);

/// Column i becomes two ones and zeros: at tokens[i], and at `vocabulary` + positions[i].
void one_hot(std::span<const std::uint8_t> tokens, std::span<const std::int64_t> positions,
             const partita::View& columns);

/// The sum over columns of -log softmax(logits)[target]; `logits` become its gradient, times `scale`.
double cross_entropy(const partita::View& logits, std::span<const std::uint8_t> targets, double scale);

/// The moments' decay, and what keeps the quotient finite.
struct AdamRates {
  double learning_rate = 1e-3;
  std::int64_t step = 1;  ///< counted from 1
  double first = 0.9;
  double second = 0.99;
  double epsilon = 1e-8;
};
/// One step of Adam (Kingma and Ba 2015), of dense parts that lie alike.
void adam(const partita::View& weights, const partita::View& gradient, const partita::View& first,
          const partita::View& second, const AdamRates& rates);

}  // namespace transformer
