// Machine descriptions, and the predicted cost of plans.
#pragma once

#include <partita/plan.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// Parameters of the cost model, read from a JSON file. Bandwidths in bytes per second, latencies in seconds.
struct PARTITA_API Machine {
  std::string name;                   ///< "laptop", ...
  int ranks_per_node = 1;             ///< default of simulations
  double copy_bandwidth = 1e10;       ///< one rank copying alone, payload (read + write count once)
  double node_copy_bandwidth = 2e10;  ///< all ranks of a node copying at once
  double strided_bandwidth = 5e9;     ///< one rank, runs shorter than 64 bytes or a transposition
  double copy_latency = 1e-6;         ///< overhead of a copy step
  double signal_latency = 5e-7;       ///< until a peer of the node receives a signal
  double peer_bandwidth = 1e10;       ///< one rank reading a peer's memory (a link, for GPUs)
  double store_bandwidth = 0;         ///< kernels of one rank storing to peers; 0: transforms do not store
  double network_bandwidth = 1e10;    ///< into and out of one node
  double network_latency = 2e-6;      ///< one message
  double bus_bandwidth = 2.5e10;      ///< one rank, from host memory to its device or back
  double flops = 1e10;                ///< one rank, f64 multiply-add counted as two
  double flops_f32 = 0;               ///< products of f32 and c64; 0: as `flops`
  double flops_16 = 0;                ///< products of half precision, FP8 and i8; 0: as `flops_f32`
  double flops_transform = 0;         ///< Fourier transforms of f64, twice that for f32; 0: as `flops`

  /// Floating-point operations per second of products with factors of this dtype. Pure.
  double product_flops(Dtype factors) const;

  /// Reads a description. Local. Throws FileError, or ArgumentError that names the key.
  static Machine read(const std::string& path);
  /// A shipped description ("laptop", "node-4-h200", "node-8-gpu", "cluster"), or the one at a path. Local.
  /// Throws ArgumentError that lists the names.
  static Machine find(std::string_view name_or_path);
  static std::vector<std::string> shipped();  ///< the names of shipped descriptions
  /// The default: the description that the environment variable PARTITA_MACHINE names, otherwise "laptop".
  /// Local. Throws as `find`.
  static Machine here();
};

/// Name and parameters in one line; different machines have different texts.
PARTITA_API std::string to_string(const Machine& machine);

/// A predicted time and its components.
struct Prediction {
  double seconds = 0;  ///< time of the slowest rank
  int slowest_rank = 0;
  int ranks_priced = 0;          ///< number of ranks that were priced: all, or a sample
  Traffic per_rank;              ///< traffic of the slowest rank
  std::int64_t total_bytes = 0;  ///< payload that leaves its rank, over all ranks (estimated from the sample)
  std::int64_t total_messages = 0;
};

/// Predicted seconds of one rank's steps: copies share the bandwidth of their node, messages overlap with
/// copies. Pure.
PARTITA_API double price(const Plan& plan, const Machine& machine);

/// Predicted seconds for `ranks` ranks. Up to 64 ranks: a discrete-event simulation of all plans, with waits
/// and messages. Beyond: the prices of a sample of up to 64 ranks (at least 16 if plans have many steps).
/// Pure; no MPI.
PARTITA_API Prediction simulate(const Planner& planner, int ranks, const Machine& machine);

}  // namespace partita
