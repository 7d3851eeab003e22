// What is learned, how it is spread over the mesh, and its optimizer.
#pragma once

#include <string>
#include <vector>

#include "transformer/operations.hpp"
#include "transformer/settings.hpp"

namespace transformer {

/// The mesh axes over which each dimension of an array is cut.
using Cuts = std::vector<std::vector<std::string>>;

/// Of shape and first values.
struct ParameterKind {
  std::string name;
  partita::Shape shape;
  Cuts weight;           ///< as products read it
  Cuts shard;            ///< of what the optimizer keeps: over all ranks
  double deviation = 0;  ///< of the first values, which are of the normal distribution with mean 0
};

/// A parameter with its gradient and the state of Adam, of which every rank has a part (ZeRO, Rajbhandari et
/// al. 2020). Products read `weight`. Adam corrects `master`, which is wide (`Settings::wide`), and rounds it
/// to `shard`, from which `weight` is made. Those that would be the same numbers in the same places are one.
struct Parameter {
  std::string name;
  Tensor weight;
  Tensor shard;
  Tensor master;
  Tensor gradient;
  Tensor first;   ///< moment
  Tensor second;  ///< the second moment
  double deviation = 0;

  bool rounds() const { return shard.operand().dtype != master.operand().dtype; }
  bool spreads() const { return !weight.layout().equivalent(shard.layout()); }
};

/// All of a model, in the order in which they were added.
class Parameters {
 public:
  Parameters(Operations& operations, const partita::Mesh& mesh, const Settings& settings)
      : operations_(&operations), mesh_(mesh), dtype_(settings.dtype), wide_(settings.wide()) {}

  /// Returns its number. What has the name already is kept as it is. Collective.
  std::size_t add(const ParameterKind& kind);
  Parameter& operator[](std::size_t number) { return list_[number]; }
  const std::vector<Parameter>& list() const { return list_; }
  const partita::Mesh& mesh() const { return mesh_; }

  /// The same numbers on any mesh. For an `Execution`.
  void initialize(std::uint64_t seed);
  /// One step of Adam with the gradients, counted from 1. Collective.
  void update(double learning_rate, std::int64_t step);
  /// The weights become what the masters say. Collective.
  void spread();

 private:
  void spread_shards();

  Operations* operations_;
  partita::Mesh mesh_;
  partita::Dtype dtype_, wide_;
  std::vector<Parameter> list_;
};

}  // namespace transformer
