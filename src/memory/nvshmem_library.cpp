#include "memory/nvshmem_library.hpp"

#include <partita/device_report.hpp>

#include "base/opened_library.hpp"

namespace partita {
namespace {

constexpr const char* library_name = "libnvshmem_host.so.3";

void find_all(void* handle, NvshmemLibrary& library) {
  find_symbol(handle, library_name, "nvshmemx_init_status", library.init_status);
  find_symbol(handle, library_name, "nvshmemx_get_uniqueid", library.get_unique_id);
  find_symbol(handle, library_name, "nvshmemx_set_attr_uniqueid_args", library.set_id);
  find_symbol(handle, library_name, "nvshmemx_hostlib_init_attr", library.init);
  find_symbol(handle, library_name, "nvshmem_my_pe", library.my_pe);
  find_symbol(handle, library_name, "nvshmem_n_pes", library.pe_count);
  find_symbol(handle, library_name, "nvshmem_malloc", library.allocate);
  find_symbol(handle, library_name, "nvshmem_ptr", library.address_of);
  find_symbol(handle, library_name, "nvshmemx_vendor_get_version_info", library.get_version);
}

NvshmemLibrary open() {
  NvshmemLibrary library;
  try {
    find_all(open_library_or_package(library_name, "nvshmem"), library);
    int major = 0, minor = 0, patch = 0;
    library.get_version(&major, &minor, &patch);
    library.version = 10000 * major + 100 * minor + patch;
    library.path = path_of_library(reinterpret_cast<void*>(library.init));
  } catch (const std::exception& error) {
    library.why_none = error.what();
  }
  return library;
}

}  // namespace

const NvshmemLibrary& NvshmemLibrary::of_process() {
  static const NvshmemLibrary library = open();
  return library;
}

LibraryReport report_nvshmem() {
  const NvshmemLibrary& library = NvshmemLibrary::of_process();
  return {library.version, library.path, library.why_none};
}

}  // namespace partita
