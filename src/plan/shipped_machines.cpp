#include "plan/shipped_machines.hpp"

// The same text as machines/*.json, the templates for descriptions of one's own; a unit test compares them.
namespace partita {

const std::array<ShippedMachine, 3> shipped_machines{{
    {"laptop", R"json({
  "name": "laptop",
  "description": "Two cores that share their memory: one copies at 12 GB/s alone, both together at 20 GB/s.",
  "ranks_per_node": 2,
  "copy_bandwidth": 12e9,
  "node_copy_bandwidth": 20e9,
  "strided_bandwidth": 6e9,
  "copy_latency": 2e-7,
  "signal_latency": 1e-6,
  "peer_bandwidth": 12e9,
  "network_bandwidth": 5e9,
  "network_latency": 2e-6,
  "flops": 1e11
}
)json"},
    {"node-8-gpu", R"json({
  "name": "node-8-gpu",
  "description": "One node of 8 GPUs: 2.1 TB/s of copies inside each one's memory, 390 GB/s over each one's links.",
  "ranks_per_node": 8,
  "copy_bandwidth": 2.1e12,
  "node_copy_bandwidth": 16.8e12,
  "strided_bandwidth": 1.2e12,
  "copy_latency": 4e-6,
  "signal_latency": 3e-6,
  "peer_bandwidth": 390e9,
  "network_bandwidth": 400e9,
  "network_latency": 5e-6,
  "flops": 6e13
}
)json"},
    {"cluster", R"json({
  "name": "cluster",
  "description": "Nodes of 64 cores and 300 GB/s of copies, each with a network interface of 25 GB/s.",
  "ranks_per_node": 64,
  "copy_bandwidth": 12e9,
  "node_copy_bandwidth": 300e9,
  "strided_bandwidth": 5e9,
  "copy_latency": 2e-7,
  "signal_latency": 5e-7,
  "peer_bandwidth": 12e9,
  "network_bandwidth": 25e9,
  "network_latency": 2e-6,
  "flops": 5e10
}
)json"},
}};

}  // namespace partita
