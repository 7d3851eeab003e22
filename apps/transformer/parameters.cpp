#include "transformer/parameters.hpp"

#include <algorithm>

#include "transformer/kernels.hpp"

namespace transformer {
namespace pt = partita;

std::size_t Parameters::add(const ParameterKind& kind) {
  const auto known = std::find_if(list_.begin(), list_.end(),
                                  [&](const Parameter& parameter) { return parameter.name == kind.name; });
  if (known != list_.end()) return static_cast<std::size_t>(known - list_.begin());
  const auto make = [&](const Cuts& cuts) {
    return operations_->empty(kind.shape, pt::Partitioned{mesh_, {cuts}}, dtype_);
  };
  Parameter parameter;
  parameter.name = kind.name;
  parameter.deviation = kind.deviation;
  parameter.master = make(kind.shard);
  parameter.gradient = make(kind.shard);
  parameter.first = make(kind.shard);
  parameter.second = make(kind.shard);
  const pt::Layout& shard = parameter.master.layout();
  const pt::Layout weight(pt::Partitioned{mesh_, {kind.weight}}, kind.shape, shard.ranks());
  parameter.weight = weight.equivalent(shard) ? parameter.master : make(kind.weight);
  list_.push_back(std::move(parameter));
  return list_.size() - 1;
}

void Parameters::initialize(std::uint64_t seed) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    pt::Array& master = list_[i].master.array();
    pt::fill_normal(master, seed * 1000003 + i);
    pt::scale(master, list_[i].deviation);
    set_to_zero(list_[i].first.local());
    set_to_zero(list_[i].second.local());
  }
  spread();
}

void Parameters::update(double learning_rate, std::int64_t step) {
  const AdamRates rates{learning_rate, step};
  for (Parameter& parameter : list_) {
    operations_->pass({&parameter.master, &parameter.gradient, &parameter.first, &parameter.second}, [&] {
      adam(parameter.master.local(), parameter.gradient.local(), parameter.first.local(),
           parameter.second.local(), rates);
    });
  }
  spread();
}

void Parameters::spread() {
  for (Parameter& parameter : list_) {
    if (!parameter.weight.layout().equivalent(parameter.master.layout())) {
      operations_->redistribute(parameter.master, parameter.weight);
    }
  }
}

}  // namespace transformer
