// Both forms of each kernel: see kernels.hpp. A stream is a cudaStream_t.
#pragma once

#include "transformer/kernels.hpp"

namespace transformer {

namespace host {
void layer_norm(const partita::View& x, const partita::View& norms, std::int64_t number,
                const partita::View& y);
void layer_norm_backward(const NormGradient& arrays, std::int64_t number);
void causal_softmax(const partita::View& scores);
void causal_softmax_backward(const partita::View& probabilities, const partita::View& gradient);
void causal_attention(const AttentionViews& arrays, double scale);
void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient, double scale);
void one_hot(const partita::View& tokens, std::int64_t first, std::int64_t sequence,
             const partita::View& columns);
void cross_entropy(const partita::View& logits, const partita::View& targets, double scale,
                   const partita::View& losses);
void sum_up(const partita::View& terms, double factor, const partita::View& sum);
void adam(const AdamParts& parts, const AdamRates& rates);
void round_to(const partita::View& from, const partita::View& to);
}  // namespace host

namespace cuda {
bool has_fused_attention(int device);
void layer_norm(const partita::View& x, const partita::View& norms, std::int64_t number,
                const partita::View& y, void* stream);
void layer_norm_backward(const NormGradient& arrays, std::int64_t number, void* stream);
void causal_softmax(const partita::View& scores, void* stream);
void causal_softmax_backward(const partita::View& probabilities, const partita::View& gradient, void* stream);
void causal_attention(const AttentionViews& arrays, double scale, void* stream);
void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient, double scale,
                               void* stream);
void one_hot(const partita::View& tokens, std::int64_t first, std::int64_t sequence,
             const partita::View& columns, void* stream);
void cross_entropy(const partita::View& logits, const partita::View& targets, double scale,
                   const partita::View& losses, void* stream);
void sum_up(const partita::View& terms, double factor, const partita::View& sum, void* stream);
void adam(const AdamParts& parts, const AdamRates& rates, void* stream);
void round_to(const partita::View& from, const partita::View& to, void* stream);
}  // namespace cuda

}  // namespace transformer
