#include "memory/nvshmem_library.hpp"

#include <cctype>
#include <charconv>
#include <string_view>

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "base/opened_library.hpp"

namespace partita {
namespace memory {
namespace {

constexpr const char* library_name = "libnvshmem_host.so.3";

void find_all(NvshmemLibrary& library) {
  void* const handle = open_library_or_package(library_name, "nvshmem");
  find_symbol(handle, library_name, "nvshmemx_init_status", library.init_status);
  find_symbol(handle, library_name, "nvshmemx_get_uniqueid", library.get_unique_id);
  find_symbol(handle, library_name, "nvshmemx_set_attr_uniqueid_args", library.set_id);
  find_symbol(handle, library_name, "nvshmemx_hostlib_init_attr", library.init);
  find_symbol(handle, library_name, "nvshmem_my_pe", library.my_pe);
  find_symbol(handle, library_name, "nvshmem_n_pes", library.pe_count);
  find_symbol(handle, library_name, "nvshmem_malloc", library.allocate);
  find_symbol(handle, library_name, "nvshmem_ptr", library.address_of);
  find_symbol(handle, library_name, "nvshmemx_vendor_get_version_info", library.get_version);
  int major = 0, minor = 0, patch = 0;
  library.get_version(&major, &minor, &patch);
  library.version = 10000 * major + 100 * minor + patch;
  library.path = path_of_library(reinterpret_cast<void*>(library.init));
}

/// "", k, m, g or t; -1: another one.
int power_of(std::string_view suffix) {
  constexpr std::string_view letters = "kmgt";
  if (suffix.empty()) return 0;
  const auto place = letters.find(static_cast<char>(std::tolower(static_cast<unsigned char>(suffix[0]))));
  return suffix.size() > 1 || place == std::string_view::npos ? -1 : static_cast<int>(place) + 1;
}

}  // namespace

const NvshmemLibrary& NvshmemLibrary::of_process() {
  static const auto library = open_or_say_why(find_all);
  return library;
}

}  // namespace memory

LibraryReport report_nvshmem() {
  return static_cast<const LibraryReport&>(memory::NvshmemLibrary::of_process());
}

std::string memory::obstacle(std::span<const NvshmemCapabilities> offers) {
  for (std::size_t i = 1; i < offers.size(); ++i) {
    const NvshmemCapabilities& one = offers[i];
    if (one.version != offers[0].version) return fmt::format("ranks 0 and {} have different ones", i);
    if (one.world != offers[0].world)
      return fmt::format(
          "rank {} has started it with other processes than rank {}, and a process can start it only once",
          offers[0].world == 0 ? i : 0, offers[0].world == 0 ? 0 : i);
    for (std::size_t j = 0; j < i; ++j) {
      if (one.device == offers[j].device) return fmt::format("ranks {} and {} share a device", j, i);
    }
  }
  return "";
}

std::int64_t memory::symmetric_size_of_environment(std::int64_t otherwise) {
  const std::string_view whole = environment_variable("NVSHMEM_SYMMETRIC_SIZE");
  if (whole.empty()) return otherwise;
  double number = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  const int power = power_of(whole.substr(static_cast<std::size_t>(end - whole.data())));
  constexpr double most = 0x1p50;
  const double bytes = number * static_cast<double>(std::int64_t{1} << 10 * (power < 0 ? 0 : power));
  check(error == std::errc{} && power >= 0 && bytes >= 1 && bytes <= most,
        "NVSHMEM_SYMMETRIC_SIZE is \"{:.40}\"; it must be a number of bytes, optionally with suffix k, m, g "
        "or t",
        whole);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace partita
