#include "transformer/sample.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace transformer {
namespace pt = partita;
namespace {

/// `chance` is uniform in [0, 1).
std::int64_t choose(const std::vector<double>& logits, double temperature, double chance) {
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  if (temperature == 0) return likeliest - logits.begin();
  std::vector<double> sums;
  double sum = 0;
  for (const double logit : logits) sums.push_back(sum += std::exp((logit - *likeliest) / temperature));
  return std::min(std::upper_bound(sums.begin(), sums.end(), chance * sum) - sums.begin(),
                  std::ssize(sums) - 1);
}

/// The numbers of a column of features by tokens that this rank has: none or all, in the host's memory.
std::vector<double> own_column(const pt::Array& array, std::int64_t column) {
  pt::Array part = array;
  if (array.local().space == pt::MemorySpace::device) {
    const pt::ArrayOptions on_host{.order = pt::Order::column_major, .space = pt::MemorySpace::host};
    part = pt::empty(array.context(), array.layout(), array.dtype(), on_host);
    pt::copy(array, part);
  }
  std::vector<double> own;
  const auto collect = [&]<class T>(T) {
    pt::for_each_local<T>(part, [&](const pt::Index& index, T value) {
      if (index[1] == column) own.push_back(static_cast<double>(value));
    });
  };
  if (array.dtype() == pt::Dtype::f64)
    collect(double());
  else if (array.dtype() == pt::Dtype::f32)
    collect(float());
  else
    collect(pt::BFloat16());
  return own;
}

/// What the rank that has this token's logits chooses, on every rank.
std::int64_t next_byte(const pt::Array& logits, std::int64_t token, double temperature, double chance) {
  const std::vector<double> own = own_column(logits, token);
  std::int64_t chosen = own.empty() ? 0 : choose(own, temperature, chance);
  pt::all_reduce(logits.context(), pt::view(chosen), pt::view(chosen));
  return chosen;
}

}  // namespace

std::string sample(Execution& execution, const Model& model, const SampleOptions& options) {
  if (options.prompt.empty()) throw pt::ArgumentError("transformer: a sample needs a prompt");
  if (!(options.temperature >= 0))
    throw pt::ArgumentError("transformer: the temperature must not be negative");
  Settings settings = model.settings();
  settings.batch = model.parameters().mesh().axes()[0].size;  // the fewest; the first is looked at
  Model reader(execution, settings, model.parameters());
  std::mt19937_64 random(options.seed);
  std::string text = options.prompt;
  const auto seen = static_cast<std::size_t>(settings.sequence);
  while (text.size() < options.prompt.size() + static_cast<std::size_t>(options.length)) {
    const std::string last = text.substr(text.size() - std::min(seen, text.size()));
    std::vector<std::uint8_t> tokens(static_cast<std::size_t>(settings.tokens()));
    std::copy(last.begin(), last.end(), tokens.begin());
    const double chance = std::ldexp(static_cast<double>(random() >> 11), -53);
    const Tensor& logits = reader.logits(tokens);
    text += static_cast<char>(next_byte(logits.array(), std::ssize(last) - 1, options.temperature, chance));
  }
  return text.substr(options.prompt.size());
}

}  // namespace transformer
