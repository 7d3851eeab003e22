#include <algorithm>
#include <cmath>

#include "transformer/host_common.hpp"
#include "transformer/kernel_forms.hpp"
#include "transformer/settings.hpp"

namespace transformer::host {
namespace {

template <class T>
Moments<T> moments(const T* x, std::int64_t n) {
  T sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  const T mean = sum / static_cast<T>(n);
  for (std::int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return moments_of(mean, squares / static_cast<T>(n));
}

template <class T>
void norm_column(const T* x, const T* gain, const T* bias, T* y, std::int64_t n) {
  const Moments<T> of = moments(x, n);
  for (std::int64_t i = 0; i < n; ++i) y[i] = normed(x[i], of, gain[i], bias[i]);
}

template <class T>
void norm_column_backward(const T* x, const T* gain, const T* dy, T* dx, T* dgain, T* dbias, std::int64_t n) {
  const Moments<T> of = moments(x, n);
  T sum = 0, along = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T unit = (x[i] - of.mean) * of.scale, g = (1 + gain[i]) * dy[i];
    sum += g;
    along += g * unit;
    dgain[i] += dy[i] * unit;
    dbias[i] += dy[i];
  }
  sum /= static_cast<T>(n);
  along /= static_cast<T>(n);
  for (std::int64_t i = 0; i < n; ++i) dx[i] += norm_gradient(x[i], of, gain[i], dy[i], sum, along);
}

template <class T>
void softmax_row(T* row, std::int64_t seen, std::int64_t keys) {
  const T most = *std::max_element(row, row + seen);
  T sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) sum += row[j] = std::exp(row[j] - most);
  for (std::int64_t j = 0; j < seen; ++j) row[j] /= sum;
  std::fill(row + seen, row + keys, T(0));
}

template <class T>
void softmax_row_backward(const T* p, T* g, std::int64_t seen, std::int64_t keys) {
  T sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) sum += p[j] * g[j];
  for (std::int64_t j = 0; j < seen; ++j) g[j] = p[j] * (g[j] - sum);
  std::fill(g + seen, g + keys, T(0));
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

/// Calls f(row, number of keys that it sees).
template <class T, class F>
void for_each_row(const pt::View& scores, F&& f) {
  const std::int64_t keys = scores.extents[scores.extents.size() - 1],
                     rows = keys > 0 ? pt::volume(scores.extents) / keys : 0;
  for (std::int64_t row = 0; row < rows; ++row) f(row * keys, row % keys + 1, keys);
}

}  // namespace

void layer_norm(const pt::View& x, const pt::View& norms, std::int64_t number, const pt::View& y) {
  with_type(x.dtype, [&]<class T>(T) {
    const std::int64_t n = x.extents[0];
    Line<T> gain(data<T>(norms) + number * 2 * n, 2 * n);
    for (std::int64_t token = 0; token < x.extents[1]; ++token) {
      Line<T> from(column<T>(x, token), n), to(column<T>(y, token), n);
      norm_column(from.begin(), gain.begin(), gain.begin() + n, to.begin(), n);
      to.store();
    }
  });
}

void layer_norm_backward(const NormGradient& arrays, std::int64_t number) {
  with_type(arrays.x.dtype, [&]<class T>(T) {
    const std::int64_t n = arrays.x.extents[0];
    Line<T> gain(data<T>(arrays.norms) + number * 2 * n, n);
    Wide<T>* const dgain = data<Wide<T>>(arrays.gradient) + number * 2 * n;
    std::fill_n(dgain, 2 * n, Wide<T>(0));
    for (std::int64_t token = 0; token < arrays.x.extents[1]; ++token) {
      Line<T> x(column<T>(arrays.x, token), n), dy(column<T>(arrays.dy, token), n),
          dx(column<T>(arrays.dx, token), n);
      norm_column_backward(x.begin(), gain.begin(), dy.begin(), dx.begin(), dgain, dgain + n, n);
      dx.store();
    }
  });
}

void causal_softmax(const pt::View& scores) {
  with_type(scores.dtype, [&]<class T>(T) {
    for_each_row<T>(scores, [&](std::int64_t begin, std::int64_t seen, std::int64_t keys) {
      Line<T> row(data<T>(scores) + begin, keys);
      softmax_row(row.begin(), seen, keys);
      row.store();
    });
  });
}

void causal_softmax_backward(const pt::View& probabilities, const pt::View& gradient) {
  with_type(gradient.dtype, [&]<class T>(T) {
    for_each_row<T>(gradient, [&](std::int64_t begin, std::int64_t seen, std::int64_t keys) {
      Line<T> p(data<T>(probabilities) + begin, keys), g(data<T>(gradient) + begin, keys);
      softmax_row_backward(p.begin(), g.begin(), seen, keys);
      g.store();
    });
  });
}

void one_hot(const pt::View& tokens, std::int64_t first, std::int64_t sequence, const pt::View& columns) {
  with_type(columns.dtype, [&]<class T>(T) {
    std::fill_n(data<T>(columns), pt::volume(columns.extents), T(0));
    for (std::int64_t i = 0; i < columns.extents[1]; ++i) {
      T* const to = column<T>(columns, i);
      to[data<std::uint8_t>(tokens)[i]] = T(1);
      to[vocabulary + (first + i) % sequence] = T(1);
    }
  });
}

void cross_entropy(const pt::View& logits, const pt::View& targets, double scale, const pt::View& losses) {
  with_type(logits.dtype, [&]<class T>(T) {
    const std::int64_t n = logits.extents[0];
    for (std::int64_t i = 0; i < logits.extents[1]; ++i) {
      Line<T> of(column<T>(logits, i), n);
      data<double>(losses)[i] = cross_entropy_of(of.begin(), n, data<std::uint8_t>(targets)[i], scale);
      of.store();
    }
  });
}

void sum_up(const pt::View& terms, double factor, const pt::View& sum) {
  double total = 0;
  for (std::int64_t i = 0; i < terms.extents[0]; ++i) total += data<double>(terms)[i];
  *data<double>(sum) = factor * total;
}

void adam(const AdamParts& parts, const AdamRates& rates) {
  with_type(parts.master.dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, Wide<T>>) {
      const AdamFactors<T> factors(rates);
      T *const master = data<T>(parts.master), *const first = data<T>(parts.first),
               *const second = data<T>(parts.second);
      const T* const gradient = data<T>(parts.gradient);
      const std::int64_t n = pt::volume(parts.master.extents);
      for (std::int64_t i = 0; i < n; ++i) adam_step(master[i], gradient[i], first[i], second[i], factors);
    }
  });
  if (parts.rounded.data != nullptr) round_to(parts.master, parts.rounded);
}

void round_to(const pt::View& from, const pt::View& to) {
  with_type(to.dtype, [&]<class T>(T) {
    const Wide<T>* const wide = data<Wide<T>>(from);
    std::transform(wide, wide + pt::volume(to.extents), data<T>(to), [](Wide<T> value) { return T(value); });
  });
}

}  // namespace transformer::host
