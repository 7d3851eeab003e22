#include <cmath>
#include <numeric>

#include "transformer/host_common.hpp"
#include "transformer/kernel_forms.hpp"

namespace transformer::host {
namespace {

/// Numbers of one head, token by token, in the type that computes.
template <class T>
class Head {
 public:
  Head(const pt::View& view, std::int64_t batch, std::int64_t head)
      : view_(view),
        first_(data<T>(view) + batch * view.strides[0] + head * view.strides[1]),
        size_(view.extents[3]),
        numbers_(static_cast<std::size_t>(view.extents[2] * size_)) {}

  static Head read(const pt::View& view, std::int64_t batch, std::int64_t head) {
    Head read(view, batch, head);
    for (std::int64_t t = 0; t < view.extents[2]; ++t) std::copy_n(read.memory(t), read.size_, read.token(t));
    return read;
  }
  void write() {
    for (std::int64_t t = 0; t < view_.extents[2]; ++t)
      std::transform(token(t), token(t) + size_, memory(t), [](Wide<T> value) { return T(value); });
  }

  Wide<T>* token(std::int64_t t) { return numbers_.data() + t * size_; }
  std::int64_t size() const { return size_; }

 private:
  T* memory(std::int64_t t) const { return first_ + t * view_.strides[2]; }

  pt::View view_;
  T* first_;
  std::int64_t size_;
  std::vector<Wide<T>> numbers_;
};

template <class T>
T dot(const T* a, const T* b, std::int64_t n) {
  return std::inner_product(a, a + n, b, T(0));
}
template <class T>
void add(T factor, const T* x, T* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// Calls f(batch, head, the head's own logarithms).
template <class T, class F>
void for_each_head(const AttentionViews& arrays, F&& f) {
  const pt::Shape& shape = arrays.query.extents;
  for (std::int64_t batch = 0; batch < shape[0]; ++batch) {
    for (std::int64_t head = 0; head < shape[1]; ++head)
      f(batch, head, data<Wide<T>>(arrays.logarithms) + (batch * shape[1] + head) * shape[2]);
  }
}

}  // namespace

void causal_attention(const AttentionViews& arrays, double scale) {
  with_type(arrays.query.dtype, [&]<class T>(T) {
    using W = Wide<T>;
    for_each_head<T>(arrays, [&](std::int64_t batch, std::int64_t head, W* logarithms) {
      auto query = Head<T>::read(arrays.query, batch, head), key = Head<T>::read(arrays.key, batch, head),
           value = Head<T>::read(arrays.value, batch, head);
      Head<T> context(arrays.context, batch, head);
      const std::int64_t n = query.size();
      std::vector<W> weights;
      for (std::int64_t t = 0; t < arrays.query.extents[2]; ++t) {
        weights.clear();
        for (std::int64_t j = 0; j <= t; ++j)
          weights.push_back(static_cast<W>(scale) * dot(query.token(t), key.token(j), n));
        const W most = *std::max_element(weights.begin(), weights.end());
        for (W& weight : weights) weight = std::exp(weight - most);
        const W sum = std::accumulate(weights.begin(), weights.end(), W(0));
        for (std::int64_t j = 0; j <= t; ++j)
          add(weights[static_cast<std::size_t>(j)] / sum, value.token(j), context.token(t), n);
        logarithms[t] = most + std::log(sum);
      }
      context.write();
    });
  });
}

// As the devices' kernels: see cuda_attention_backward.cuh.
void causal_attention_backward(const AttentionViews& arrays, const AttentionGradient& gradient,
                               double scale) {
  with_type(arrays.query.dtype, [&]<class T>(T) {
    using W = Wide<T>;
    for_each_head<T>(arrays, [&](std::int64_t batch, std::int64_t head, const W* logarithms) {
      auto query = Head<T>::read(arrays.query, batch, head), key = Head<T>::read(arrays.key, batch, head),
           value = Head<T>::read(arrays.value, batch, head),
           context = Head<T>::read(arrays.context, batch, head),
           slope = Head<T>::read(gradient.context, batch, head);
      Head<T> of_query(gradient.query, batch, head), of_key(gradient.key, batch, head),
          of_value(gradient.value, batch, head);
      const std::int64_t n = query.size();
      const W factor = static_cast<W>(scale);
      for (std::int64_t t = 0; t < arrays.query.extents[2]; ++t) {
        const W mean = dot(slope.token(t), context.token(t), n);
        for (std::int64_t j = 0; j <= t; ++j) {
          const W weight = std::exp(factor * dot(query.token(t), key.token(j), n) - logarithms[t]);
          const W of_score = factor * weight * (dot(slope.token(t), value.token(j), n) - mean);
          add(weight, slope.token(t), of_value.token(j), n);
          add(of_score, key.token(j), of_query.token(t), n);
          add(of_score, query.token(t), of_key.token(j), n);
        }
      }
      for (Head<T>* const made : {&of_query, &of_key, &of_value}) made->write();
    });
  });
}

}  // namespace transformer::host
