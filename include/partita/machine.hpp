// A machine description, and what a plan costs on it.
#pragma once

#include <partita/plan.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace partita {

/// Figures that the cost model prices with, read from a JSON file. Bandwidths in bytes a second, latencies in
/// seconds.
struct PARTITA_API Machine {
  std::string name;                   ///< "laptop", ...
  int ranks_per_node = 1;             ///< used where a simulation is not told otherwise
  double copy_bandwidth = 1e10;       ///< one rank copying alone, payload (read + write count once)
  double node_copy_bandwidth = 2e10;  ///< all ranks of a node copying at once
  double strided_bandwidth = 5e9;     ///< one rank, runs shorter than 64 bytes or a transposition
  double copy_latency = 1e-6;         ///< start of a copy step
  double signal_latency = 5e-7;       ///< until a peer of the node sees it
  double peer_bandwidth = 1e10;       ///< one rank reading a peer's memory (a link, for GPUs)
  double store_bandwidth = 0;         ///< kernels of one rank storing to peers; 0: their transforms do not
  double network_bandwidth = 1e10;    ///< into and out of one node
  double network_latency = 2e-6;      ///< one message
  double bus_bandwidth = 2.5e10;      ///< one rank, from host memory to its device or back
  double flops = 1e10;                ///< one rank, f64 multiply-add counted as two
  double flops_f32 = 0;               ///< the same in products of f32 and c64; 0: as `flops`
  double flops_16 = 0;                ///< in those of f16 and bf16, and of fewer bits; 0: as `flops_f32`
  double flops_transform = 0;         ///< in Fourier transforms of f64, twice that in f32; 0: as `flops`

  /// Of products of such matrices. Pure.
  double product_flops(Dtype factors) const;

  /// Reads a description; throws FileError or ArgumentError that names the key. Local, as all of these.
  static Machine read(const std::string& path);
  /// A shipped description by name ("laptop", "node-4-h200", "node-8-gpu", "cluster"), or a path. Throws
  /// ArgumentError with the list.
  static Machine find(std::string_view name_or_path);
  static std::vector<std::string> shipped();  ///< the names
  /// What is priced for where nothing is said: the description that the environment variable PARTITA_MACHINE
  /// names, else "laptop". Throws as `find`.
  static Machine here();
};

/// Name and figures in one line: different machines have different texts.
PARTITA_API std::string to_string(const Machine& machine);

/// Predicted seconds and what they are made of.
struct Prediction {
  double seconds = 0;  ///< of the slowest rank priced
  int slowest_rank = 0;
  int ranks_priced = 0;          ///< all of them, or a sample
  Traffic per_rank;              ///< of the slowest rank
  std::int64_t total_bytes = 0;  ///< payload that leaves its rank, over all ranks (scaled up from the sample)
  std::int64_t total_messages = 0;
};

/// The seconds of one rank's steps: copies at the bandwidth that its node leaves it, messages overlapped with
/// copies. Pure.
PARTITA_API double price(const Plan& plan, const Machine& machine);

/// Predicted seconds for `ranks` ranks: a discrete-event run of all plans up to 64 ranks (waits and messages
/// meet their partners), prices of a sample of up to 64 ranks beyond, of fewer (16 at least) where plans have
/// many steps. Pure; no MPI.
PARTITA_API Prediction simulate(const Planner& planner, int ranks, const Machine& machine);

}  // namespace partita
