// For which devices a build has code.
#pragma once

#include <string>
#include <string_view>

namespace partita::devices {

/// Whether code for these architectures, as CMake names them ("80-real,90,120-virtual"), runs on a device of
/// that compute capability: machine code runs on devices of the same major version and no lower minor one,
/// code that the driver compiles anew on all later devices, and what has the letter a on that device alone.
/// Pure.
bool has_code_for(std::string_view architectures, int major, int minor);

/// "8.0, 9.0, and all later than 9.0": the compute capabilities that there is code for. Pure.
std::string describe_architectures(std::string_view architectures);

}  // namespace partita::devices
