#include "device/nccl_library.hpp"

#include <array>

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

constexpr const char* library_name = "libnccl.so.2";
constexpr int oldest = 21700;  // knows NcclConfig

/// Stays open: its threads and kernels do.
void find_all(NcclLibrary& library) {
  void* const handle = open_library_or_package(library_name, "nccl");
  find_symbol(handle, library_name, "ncclGetVersion", library.get_version);
  find_symbol(handle, library_name, "ncclGetUniqueId", library.get_unique_id);
  find_symbol(handle, library_name, "ncclCommInitRankConfig", library.init_rank);
  find_symbol(handle, library_name, "ncclCommDestroy", library.destroy);
  find_symbol(handle, library_name, "ncclCommAbort", library.abort);
  find_symbol(handle, library_name, "ncclCommGetAsyncError", library.async_error);
  find_symbol(handle, library_name, "ncclGetErrorString", library.error_string);
  find_symbol(handle, library_name, "ncclGetLastError", library.last_error);
  find_symbol(handle, library_name, "ncclGroupStart", library.group_start);
  find_symbol(handle, library_name, "ncclGroupEnd", library.group_end);
  find_symbol(handle, library_name, "ncclBroadcast", library.broadcast);
  find_symbol(handle, library_name, "ncclReduce", library.reduce);
  find_symbol(handle, library_name, "ncclAllReduce", library.all_reduce);
  find_symbol(handle, library_name, "ncclAllGather", library.all_gather);
  find_symbol(handle, library_name, "ncclReduceScatter", library.reduce_scatter);
  find_symbol(handle, library_name, "ncclSend", library.send);
  find_symbol(handle, library_name, "ncclRecv", library.receive);
  check<UnsupportedError>(library.get_version(&library.version) == nccl_success,
                          "{} does not report its version", library_name);
  check<UnsupportedError>(library.version >= oldest, "{} is older than 2.17", library_name);
  library.path = path_of_library(reinterpret_cast<void*>(library.get_version));
}

/// The type of NCCL, and how many of them an element has; 0: NCCL has no matching type.
struct Numbers {
  NcclType type;
  std::int64_t per_element = 1;
};

/// By dtype. Any byte but 0 is "true" to us.
constexpr std::array<Numbers, dtype_count> numbers_of{{{NcclType::u8, 0},
                                                       {NcclType::i8},
                                                       {NcclType::u8},
                                                       {NcclType::i8, 0},
                                                       {NcclType::u8, 0},
                                                       {NcclType::i32},
                                                       {NcclType::u32},
                                                       {NcclType::i64},
                                                       {NcclType::u64},
                                                       {NcclType::f16},
                                                       {NcclType::bf16},
                                                       {NcclType::f32},
                                                       {NcclType::f64},
                                                       {NcclType::f32, 2},
                                                       {NcclType::f64, 2},
                                                       {NcclType::u8, 0},
                                                       {NcclType::u8, 0}}};

/// NCCL's min and max of a NaN and a number are the number.
std::optional<NcclOperation> operation_of(Dtype dtype, Reduction reduction) {
  if (reduction == Reduction::sum) return NcclOperation::sum;
  if (reduction == Reduction::product && !is_complex(dtype)) return NcclOperation::product;
  if (reduction == Reduction::min && is_integer(dtype)) return NcclOperation::min;
  if (reduction == Reduction::max && is_integer(dtype)) return NcclOperation::max;
  return std::nullopt;
}

}  // namespace

std::optional<NcclReducing> nccl_reducing(std::int64_t count, Dtype dtype, Reduction reduction) {
  const Numbers& numbers = numbers_of.at(static_cast<std::size_t>(dtype));
  const std::optional<NcclOperation> operation = operation_of(dtype, reduction);
  if (numbers.per_element == 0 || !operation) return std::nullopt;
  return NcclReducing{static_cast<std::size_t>(count * numbers.per_element), numbers.type, *operation};
}

const NcclLibrary& NcclLibrary::of_process() {
  static const auto library = open_or_say_why(find_all);
  return library;
}

}  // namespace devices

LibraryReport report_nccl() {
  return static_cast<const LibraryReport&>(devices::NcclLibrary::of_process());
}

}  // namespace partita
