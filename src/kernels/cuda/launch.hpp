// Kernels on a CUDA device, started by plain functions: nothing of CUDA's language shows here.
#pragma once

#include <cstdint>
#include <partita/reduction.hpp>

namespace partita::kernels::cuda {

/// A nest of loops around a contiguous row; see StridedCopy. Bytes.
struct Nest {
  static constexpr int most_loops = 16;
  int loops = 0;
  std::int64_t row_bytes = 0;
  std::int64_t counts[most_loops] = {};  // outermost first
  std::int64_t from_strides[most_loops] = {};
  std::int64_t to_strides[most_loops] = {};
};

/// 16 bytes that are repeated.
struct alignas(16) Pattern {
  std::uint64_t words[2] = {0, 0};
};

/// A multiprocessor has room for at least so many blocks of the kernel that takes an Exchange.
inline constexpr int exchange_blocks_per_multiprocessor = 4;
/// Of the one that takes a PackExchange: more would spill registers.
inline constexpr int pack_blocks_per_multiprocessor = 2;

inline constexpr int most_jobs = 8;
inline constexpr int most_flags = 8;

/// One of several copies of a launch.
struct Job {
  Nest nest;
  const void* from = nullptr;
  void* to = nullptr;
};

/// `count`: null, or a number of this device to which `value` is added; see FlagOperation.
struct Flags {
  struct One {
    std::uint64_t* address;
    std::uint64_t value;
    std::uint64_t* count;
    bool waits;
    bool fenced;
  };
  int count = 0;
  One flags[most_flags];
  /// In this device's memory; once it is not 0, waits end. Null: they do not.
  const std::uint64_t* given_up = nullptr;
};

/// The part of one rank in a small exchange with its peers: grants access, waits for the peers' grants,
/// copies, signals, and waits for their signals. `finished_blocks`: a counter in device memory, 0 between
/// launches.
struct Exchange {
  Flags early_signals, early_waits, late_signals, late_waits;
  int count = 0;
  Job jobs[most_jobs];
  unsigned* finished_blocks = nullptr;
  /// All ranks that share a device must find room on it: their blocks wait for one another. At least 1.
  unsigned most_blocks = 1;
};

/// An exchange in which something is packed first. Its `finished_blocks` are three numbers in device memory,
/// 0 at first.
struct PackExchange {
  Exchange rest;
  int packs = 0;
  Job pack[most_jobs];
};

/// Maximum numbers of blocks of a copy by rows and of a transposing copy in tiles. 0: unlimited.
struct MostBlocks {
  unsigned rows = 0, tiles = 0;
};

/// Each gives a cudaError_t; 0: started. `stream` is a cudaStream_t. The pointers include the offsets.
int launch_copy(const Nest& nest, const void* from, void* to, const MostBlocks& most, void* stream);
int launch_exchange(const Exchange& exchange, void* stream);
int launch_pack_exchange(const PackExchange& exchange, void* stream);
int launch_flags(const Flags& flags, void* stream);  // one after the other
int launch_fill(const Nest& nest, const Pattern& pattern, void* to, void* stream);
int launch_accumulate(const Nest& nest, Dtype element, Reduction operation, const void* from, void* to,
                      void* stream);
/// The loops go over elements; `row_bytes` is one of `to_dtype`.
int launch_convert(const Nest& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to,
                   void* stream);

/// Loads every kernel into the current device. A kernel's first start may wait for the device, and a stream
/// of it may be waiting for a peer.
int load_copy_kernels();
int load_accumulate_kernels();
int load_convert_kernel();
int load_pack_kernel();

}  // namespace partita::kernels::cuda
