#include "transformer/parameters.hpp"

#include <algorithm>

#include "transformer/kernels.hpp"

namespace transformer {
namespace pt = partita;

std::size_t Parameters::add(const ParameterKind& kind) {
  const auto known = std::find_if(list_.begin(), list_.end(),
                                  [&](const Parameter& parameter) { return parameter.name == kind.name; });
  if (known != list_.end()) return static_cast<std::size_t>(known - list_.begin());
  const auto make = [&](const Cuts& cuts, pt::Dtype dtype) {
    return operations_->empty(kind.shape, pt::Partitioned{mesh_, {cuts}}, dtype);
  };
  Parameter parameter;
  parameter.name = kind.name;
  parameter.deviation = kind.deviation;
  parameter.master = make(kind.shard, wide_);
  parameter.gradient = make(kind.shard, wide_);
  parameter.first = make(kind.shard, wide_);
  parameter.second = make(kind.shard, wide_);
  parameter.shard = dtype_ == wide_ ? parameter.master : make(kind.shard, dtype_);
  const pt::Layout& shard = parameter.shard.layout();
  const pt::Layout weight(pt::Partitioned{mesh_, {kind.weight}}, kind.shape, shard.ranks());
  parameter.weight = weight.equivalent(shard) ? parameter.shard : make(kind.weight, dtype_);
  list_.push_back(std::move(parameter));
  return list_.size() - 1;
}

void Parameters::initialize(std::uint64_t seed) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    pt::Array& master = list_[i].master.array();
    pt::fill_normal(master, seed * 1000003 + i);
    pt::scale(master, list_[i].deviation);
    set_to_zero(*operations_, list_[i].first);
    set_to_zero(*operations_, list_[i].second);
  }
  spread();
}

void Parameters::update(double learning_rate, std::int64_t step) {
  const AdamRates rates{learning_rate, step};
  for (Parameter& parameter : list_) {
    const Tensor &master = parameter.master, &first = parameter.first, &second = parameter.second;
    const auto step_of = [&](const on_device::Queue& queue) {
      const pt::View rounded = parameter.rounds() ? parameter.shard.local() : pt::View();
      adam({master.local(), parameter.gradient.local(), first.local(), second.local(), rounded}, rates,
           queue);
    };
    // All but the gradient are read and written.
    if (parameter.rounds()) {
      operations_->pass(
          {&parameter.gradient, &master, &master, &first, &first, &second, &second, &parameter.shard},
          step_of);
    } else {
      operations_->pass({&parameter.gradient, &master, &master, &first, &first, &second, &second}, step_of);
    }
  }
  spread_shards();
}

void Parameters::spread() {
  for (Parameter& parameter : list_) {
    if (!parameter.rounds()) continue;
    operations_->pass({&parameter.master, &parameter.shard}, [&](const on_device::Queue& queue) {
      round_to(parameter.master.local(), parameter.shard.local(), queue);
    });
  }
  spread_shards();
}

void Parameters::spread_shards() {
  for (Parameter& parameter : list_) {
    if (parameter.spreads()) operations_->redistribute(parameter.shard, parameter.weight);
  }
}

}  // namespace transformer
