#include "transformer/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "transformer/settings.hpp"

namespace transformer {
namespace pt = partita;
namespace {

/// Calls f(T()) with the type of the dtype.
template <class F>
void with_type(pt::Dtype dtype, F&& f) {
  if (dtype == pt::Dtype::f32) return f(float());
  if (dtype == pt::Dtype::f64) return f(double());
  throw pt::UnsupportedError("transformer: no kernels for " + std::string(pt::name(dtype)));
}

template <class T>
T* data(const pt::View& view) {
  return static_cast<T*>(view.data);
}

template <class T>
T* column(const pt::View& view, std::int64_t number) {
  return data<T>(view) + number * view.extents[0];
}

template <class T>
struct Moments {
  T mean, scale;  ///< scale: 1 / sqrt(variance + epsilon)
};

template <class T>
Moments<T> moments(const T* x, std::int64_t n) {
  T sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  const T mean = sum / static_cast<T>(n);
  for (std::int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<T>(n) + T(1e-5))};
}

/// dx = scale (g - mean(g) - xhat mean(g xhat)), g = (1 + gain) dy.
template <class T>
void norm_column_backward(const T* x, const T* gain, const T* dy, T* dx, T* dgain, T* dbias, std::int64_t n) {
  const auto [mean, scale] = moments(x, n);
  T sum = 0, along = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T unit = (x[i] - mean) * scale, g = (1 + gain[i]) * dy[i];
    sum += g;
    along += g * unit;
    dgain[i] += dy[i] * unit;
    dbias[i] += dy[i];
  }
  sum /= static_cast<T>(n);
  along /= static_cast<T>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] += scale * ((1 + gain[i]) * dy[i] - sum - (x[i] - mean) * scale * along);
  }
}

template <class T>
void softmax_row(T* row, std::int64_t seen, std::int64_t keys) {
  const T most = *std::max_element(row, row + seen);
  T sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - most);
  for (std::int64_t j = 0; j < seen; ++j) row[j] /= sum;
  std::fill(row + seen, row + keys, T(0));
}

/// Returns -log softmax(logits)[target].
template <class T>
double cross_entropy_of(T* logits, std::int64_t n, std::int64_t target, double scale) {
  const T most = *std::max_element(logits, logits + n);
  const double wanted = static_cast<double>(logits[target] - most);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(logits[i] = std::exp(logits[i] - most));
  const T factor = static_cast<T>(scale / sum);
  for (std::int64_t i = 0; i < n; ++i) logits[i] *= factor;
  logits[target] -= static_cast<T>(scale);
  return std::log(sum) - wanted;
}

template <class T>
void adam_of(T* weights, const T* gradient, T* first, T* second, std::int64_t n, const AdamRates& rates) {
  const auto step = static_cast<double>(rates.step);
  const T rate = static_cast<T>(rates.learning_rate / (1 - std::pow(rates.first, step)));
  const T unbias = static_cast<T>(1 / (1 - std::pow(rates.second, step)));
  const T keep1 = static_cast<T>(rates.first), keep2 = static_cast<T>(rates.second);
  const T epsilon = static_cast<T>(rates.epsilon);
  for (std::int64_t i = 0; i < n; ++i) {
    first[i] = keep1 * first[i] + (1 - keep1) * gradient[i];
    second[i] = keep2 * second[i] + (1 - keep2) * gradient[i] * gradient[i];
    weights[i] -= rate * first[i] / (std::sqrt(second[i] * unbias) + epsilon);
  }
}

}  // namespace

void set_to_zero(const pt::View& view) {
  with_type(view.dtype, [&]<class T>(T) { std::fill_n(data<T>(view), pt::volume(view.extents), T(0)); });
}

void layer_norm(const pt::View& x, const pt::View& norms, std::int64_t number, const pt::View& y) {
  with_type(x.dtype, [&]<class T>(T) {
    const std::int64_t n = x.extents[0];
    const T *const gain = data<T>(norms) + number * 2 * n, *const bias = gain + n;
    for (std::int64_t token = 0; token < x.extents[1]; ++token) {
      const T* const from = column<T>(x, token);
      T* const to = column<T>(y, token);
      const auto [mean, scale] = moments(from, n);
      for (std::int64_t i = 0; i < n; ++i) to[i] = (1 + gain[i]) * (from[i] - mean) * scale + bias[i];
    }
  });
}

void layer_norm_backward(const pt::View& x, const pt::View& norms, std::int64_t number, const pt::View& dy,
                         const pt::View& dx, const pt::View& gradient) {
  with_type(x.dtype, [&]<class T>(T) {
    const std::int64_t n = x.extents[0];
    const T* const gain = data<T>(norms) + number * 2 * n;
    T *const dgain = data<T>(gradient) + number * 2 * n, *const dbias = dgain + n;
    std::fill_n(dgain, 2 * n, T(0));
    for (std::int64_t token = 0; token < x.extents[1]; ++token) {
      norm_column_backward(column<T>(x, token), gain, column<T>(dy, token), column<T>(dx, token), dgain,
                           dbias, n);
    }
  });
}

void causal_softmax(const pt::View& scores) {
  with_type(scores.dtype, [&]<class T>(T) {
    const std::int64_t keys = scores.extents[scores.extents.size() - 1],
                       rows = pt::volume(scores.extents) / keys;
    for (std::int64_t row = 0; row < rows; ++row) {
      softmax_row(data<T>(scores) + row * keys, row % keys + 1, keys);
    }
  });
}

void softmax_backward(const pt::View& probabilities, const pt::View& gradient) {
  with_type(gradient.dtype, [&]<class T>(T) {
    const std::int64_t keys = gradient.extents[gradient.extents.size() - 1];
    const std::int64_t rows = pt::volume(gradient.extents) / keys;
    for (std::int64_t row = 0; row < rows; ++row) {
      const T* const p = data<T>(probabilities) + row * keys;
      T* const g = data<T>(gradient) + row * keys;
      T sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) sum += p[j] * g[j];
      for (std::int64_t j = 0; j < keys; ++j) g[j] = p[j] * (g[j] - sum);
    }
  });
}

void one_hot(std::span<const std::uint8_t> tokens, std::span<const std::int64_t> positions,
             const pt::View& columns) {
  with_type(columns.dtype, [&]<class T>(T) {
    std::fill_n(data<T>(columns), pt::volume(columns.extents), T(0));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      T* const to = column<T>(columns, static_cast<std::int64_t>(i));
      to[tokens[i]] = 1;
      to[vocabulary + positions[i]] = 1;
    }
  });
}

double cross_entropy(const pt::View& logits, std::span<const std::uint8_t> targets, double scale) {
  double sum = 0;
  with_type(logits.dtype, [&]<class T>(T) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      sum += cross_entropy_of(column<T>(logits, static_cast<std::int64_t>(i)), logits.extents[0], targets[i],
                              scale);
    }
  });
  return sum;
}

void adam(const pt::View& weights, const pt::View& gradient, const pt::View& first, const pt::View& second,
          const AdamRates& rates) {
  with_type(weights.dtype, [&]<class T>(T) {
    adam_of(data<T>(weights), data<T>(gradient), data<T>(first), data<T>(second), pt::volume(weights.extents),
            rates);
  });
}

}  // namespace transformer
