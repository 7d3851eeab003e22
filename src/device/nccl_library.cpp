#include "device/nccl_library.hpp"

#include <partita/device_report.hpp>

#include "base/opened_library.hpp"

namespace partita {
namespace {

constexpr const char* library_name = "libnccl.so.2";
constexpr int oldest = 21700;  // knows NcclConfig

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = symbol_of<Function>(handle, library_name, name);
}

void find_all(void* handle, NcclLibrary& library) {
  find(handle, "ncclGetVersion", library.get_version);
  find(handle, "ncclGetUniqueId", library.get_unique_id);
  find(handle, "ncclCommInitRankConfig", library.init_rank);
  find(handle, "ncclCommDestroy", library.destroy);
  find(handle, "ncclCommAbort", library.abort);
  find(handle, "ncclCommGetAsyncError", library.async_error);
  find(handle, "ncclGetErrorString", library.error_string);
  find(handle, "ncclGetLastError", library.last_error);
  find(handle, "ncclGroupStart", library.group_start);
  find(handle, "ncclGroupEnd", library.group_end);
  find(handle, "ncclBroadcast", library.broadcast);
  find(handle, "ncclReduce", library.reduce);
  find(handle, "ncclAllReduce", library.all_reduce);
  find(handle, "ncclAllGather", library.all_gather);
  find(handle, "ncclReduceScatter", library.reduce_scatter);
  find(handle, "ncclSend", library.send);
  find(handle, "ncclRecv", library.receive);
}

/// Stays open: its threads and kernels do.
NcclLibrary open() {
  NcclLibrary library;
  try {
    find_all(open_library_or_package(library_name, "nccl"), library);
    check<UnsupportedError>(library.get_version(&library.version) == nccl_success,
                            "{} does not know its version", library_name);
    check<UnsupportedError>(library.version >= oldest, "{} is older than 2.17", library_name);
    library.path = path_of_library(reinterpret_cast<void*>(library.get_version));
  } catch (const std::exception& error) {
    library.why_none = error.what();
  }
  return library;
}

}  // namespace

const NcclLibrary& NcclLibrary::of_process() {
  static const NcclLibrary library = open();
  return library;
}

LibraryReport report_nccl() {
  const NcclLibrary& library = NcclLibrary::of_process();
  if (!library.why_none.empty()) return {0, "", library.why_none};
  return {library.version, library.path, ""};
}

}  // namespace partita
