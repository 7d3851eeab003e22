// NCCL, opened on first use and not linked. What is needed of <nccl.h> stands here: a build needs neither.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/device_report.hpp>
#include <partita/dtype.hpp>
#include <partita/reduction.hpp>

struct ncclComm;

namespace partita::devices {

using NcclCommunicator = ncclComm*;

/// Names the ranks that belong together; made by one of them.
struct NcclId {
  char bytes[128];
};

/// As of 2.17; later releases take it for what it says it is.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21700;
  int blocking = INT_MIN;  // INT_MIN: as NCCL likes
  int group_of_blocks = INT_MIN;
  int least_blocks = INT_MIN;
  int most_blocks = INT_MIN;
  const char* network = nullptr;
};

enum NcclResult : int { nccl_success = 0, nccl_in_progress = 7 };
enum class NcclType : int { i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16 };
enum class NcclOperation : int { sum, product, max, min };

/// A reduction in NCCL's terms.
struct NcclReducing {
  std::size_t count;
  NcclType type;
  NcclOperation operation;
};

/// Of `count` elements. Nothing where NCCL's results are not ours, but for the order of floating-point sums.
std::optional<NcclReducing> nccl_reducing(std::int64_t count, Dtype dtype, Reduction reduction);

/// Its functions return an NcclResult; streams are cudaStream_t.
struct NcclLibrary : LibraryReport {
  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(NcclId* id) = nullptr;
  int (*init_rank)(NcclCommunicator* made, int ranks, NcclId id, int rank, NcclConfig* config) = nullptr;
  int (*destroy)(NcclCommunicator communicator) = nullptr;
  int (*abort)(NcclCommunicator communicator) = nullptr;
  int (*async_error)(NcclCommunicator communicator, int* error) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  const char* (*last_error)(NcclCommunicator communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*broadcast)(const void* from, void* to, std::size_t count, NcclType type, int root,
                   NcclCommunicator communicator, void* stream) = nullptr;
  int (*reduce)(const void* from, void* to, std::size_t count, NcclType type, NcclOperation operation,
                int root, NcclCommunicator communicator, void* stream) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, NcclType type, NcclOperation operation,
                    NcclCommunicator communicator, void* stream) = nullptr;
  int (*all_gather)(const void* from, void* to, std::size_t count, NcclType type,
                    NcclCommunicator communicator, void* stream) = nullptr;
  int (*reduce_scatter)(const void* from, void* to, std::size_t count, NcclType type, NcclOperation operation,
                        NcclCommunicator communicator, void* stream) = nullptr;
  int (*send)(const void* from, std::size_t count, NcclType type, int peer, NcclCommunicator communicator,
              void* stream) = nullptr;
  int (*receive)(void* to, std::size_t count, NcclType type, int peer, NcclCommunicator communicator,
                 void* stream) = nullptr;

  /// Opened at the first call; never an error. Thread-safe.
  static const NcclLibrary& of_process();
};

}  // namespace partita::devices
