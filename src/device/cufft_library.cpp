#include "device/cufft_library.hpp"

#include <array>

#include "base/opened_library.hpp"

namespace partita {
namespace devices {
namespace {

/// Those of CUDA 13 and 12, and where NVIDIA's packages for Python have them: of CUDA 13 all is in one
/// folder.
constexpr std::array cufft_names{PackagedLibrary{"libcufft.so.12", "cu13"},
                                 PackagedLibrary{"libcufft.so.11", "cufft"}};

/// Stays open: its kernels do.
void find_cufft(CufftLibrary& library) {
  const char* name = nullptr;
  void* const handle = open_first_library(cufft_names, name);
  find_symbol(handle, name, "cufftGetProperty", library.get_property);
  find_symbol(handle, name, "cufftCreate", library.create);
  find_symbol(handle, name, "cufftDestroy", library.destroy);
  find_symbol(handle, name, "cufftSetAutoAllocation", library.set_auto_allocation);
  find_symbol(handle, name, "cufftMakePlanMany64", library.make_plan);
  find_symbol(handle, name, "cufftSetStream", library.set_stream);
  find_symbol(handle, name, "cufftSetWorkArea", library.set_work_area);
  find_symbol(handle, name, "cufftExecC2C", library.execute_c2c);
  find_symbol(handle, name, "cufftExecR2C", library.execute_r2c);
  find_symbol(handle, name, "cufftExecC2R", library.execute_c2r);
  find_symbol(handle, name, "cufftExecZ2Z", library.execute_z2z);
  find_symbol(handle, name, "cufftExecD2Z", library.execute_d2z);
  find_symbol(handle, name, "cufftExecZ2D", library.execute_z2d);
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) (void)library.get_property(i, &parts[static_cast<std::size_t>(i)]);
  library.version = parts[0] * 10000 + parts[1] * 100 + parts[2];
  library.path = path_of_library(reinterpret_cast<void*>(library.create));
}

}  // namespace

const CufftLibrary& CufftLibrary::of_process() {
  static const auto library = open_or_say_why(find_cufft);
  return library;
}

}  // namespace devices

LibraryReport report_cufft() {
  return static_cast<const LibraryReport&>(devices::CufftLibrary::of_process());
}

}  // namespace partita
