// Libraries that were installed as Python packages.
#pragma once

#include <string>

namespace partita {

/// Where NVIDIA's packages for Python have a library: "nvshmem/lib/libnvshmem_host.so.3" is looked for below
/// site-packages/nvidia/ of PYTHONPATH, of the environment that is active (VIRTUAL_ENV, CONDA_PREFIX), of the
/// first python3 of PATH, and of the user. Empty: nowhere. No Python is started.
std::string find_in_python_packages(const std::string& place);

}  // namespace partita
