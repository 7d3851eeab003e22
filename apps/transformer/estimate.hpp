// A training step without ranks, memory or text: what it would move and take, from the planners that the
// ranks themselves ask.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "transformer/operations.hpp"
#include "transformer/settings.hpp"

namespace transformer {

class Estimate final : public Operations {
 public:
  /// Of one rank of all those of the topology, on a machine; in the memory of its device, or of the host.
  Estimate(const partita::Topology& topology, const partita::Machine& machine, int rank = 0,
           partita::MemorySpace space = partita::MemorySpace::host);

  partita::Mesh mesh(int data) const { return mesh_of(topology_.ranks(), data); }

  Tensor empty(const partita::Shape& shape, const partita::Distribution& distribution, partita::Dtype dtype,
               partita::Order order) override;
  Tensor as_strided(const Tensor& tensor, const partita::Layout& layout, std::int64_t first,
                    const partita::Strides& strides) override;
  void matmul(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& d,
              const partita::MatmulOptions& options, const EpilogueTensors& tensors) override;
  void redistribute(const Tensor& source, Tensor& destination) override;
  void pass(std::initializer_list<const Tensor*> tensors, const Body& body, double flops) override;

  /// What the rank would execute, in its order, as a `partita::TrafficRecord` counts it.
  const std::vector<partita::ExecutedTraffic>& executions() const { return executions_; }
  double seconds() const { return seconds_; }           ///< of the slowest rank
  std::int64_t array_bytes() const { return arrays_; }  ///< of a rank, as the symmetric heap has them
  /// That the plans hold, once each, and their products on a device.
  std::int64_t scratch_bytes() const { return scratch_; }
  std::int64_t context_bytes() const { return context_; }  ///< of the device, before anything is allocated
  std::int64_t bytes() const { return arrays_ + scratch_ + context_; }

 private:
  /// What is known of a plan.
  struct Priced {
    partita::ExecutedTraffic execution;
    double seconds = 0;
  };
  void execute(const std::string& key, const partita::Planner& planner);

  partita::Topology topology_;
  partita::Machine machine_;
  int rank_;
  partita::MemorySpace space_;
  std::map<std::string, Priced> plans_;
  std::vector<partita::ExecutedTraffic> executions_;
  double seconds_ = 0;
  std::int64_t arrays_ = 0, scratch_ = 0, context_ = 0;
};

/// One step of training, on so many ranks along "data". Throws ArgumentError as `checked`.
Estimate estimate_step(const Settings& settings, int data, const partita::Topology& topology,
                       const partita::Machine& machine, int rank = 0,
                       partita::MemorySpace space = partita::MemorySpace::host);

/// Bytes of a rank's memory where the context computes: what PARTITA_MEMORY_LIMIT says, or its device's, or
/// its share of the node's.
std::int64_t memory_of_a_rank(const partita::Context& context);

/// Throws MemoryError that says how many bytes it takes and how many there are, where it takes more.
void require_memory(const Estimate& estimate, const Settings& settings, std::int64_t available);

}  // namespace transformer
