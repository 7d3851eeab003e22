#include "base/python_packages.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <partita/error.hpp>

#include "setting.hpp"

namespace partita {
namespace {

using testing::Setting;

/// An environment of Python that has a package "thing", for as long as this lives.
class Environment {
 public:
  Environment() {
    std::string pattern = (std::filesystem::temp_directory_path() / "partita-XXXXXX").string();
    root = mkdtemp(pattern.data());
    packages = root / "lib/python3.99/site-packages";
    folder = packages / "nvidia/thing/lib";
    std::filesystem::create_directories(folder);
  }
  ~Environment() { std::filesystem::remove_all(root); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  std::filesystem::path root, packages, folder;
};

TEST(PythonPackages, AreFoundInEnvironments) {
  const Environment python;
  std::ofstream(python.folder / "libthing.so.1") << "x";
  EXPECT_EQ(find_in_python_packages("thing/lib/libthing.so.1"), "");
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const Setting active(name, python.root.string());
    EXPECT_EQ(find_in_python_packages("thing/lib/libthing.so.1"), (python.folder / "libthing.so.1").string());
  }
  const Setting path("PYTHONPATH", "/nowhere:" + python.packages.string());
  EXPECT_EQ(find_in_python_packages("thing/lib/libthing.so.1"), (python.folder / "libthing.so.1").string());
  EXPECT_EQ(find_in_python_packages("thing/lib/libthing.so.2"), "");
}

TEST(PythonPackages, AreOpenedWhereTheLoaderFindsNothing) {
  const Environment python;
  const Setting path("PYTHONPATH", python.packages.string());
  EXPECT_THROW((void)open_library_or_package("libthing.so.1", "thing"), UnsupportedError);
  std::ofstream(python.folder / "libthing.so.1") << "no library";
  EXPECT_THROW((void)open_library_or_package("libthing.so.1", "thing"), UnsupportedError);
  Dl_info library{};  // any will do (sanitizers put some functions of it into the program)
  ASSERT_NE(dladdr(reinterpret_cast<void*>(static_cast<double (*)(double)>(&::erf)), &library), 0);
  std::filesystem::copy_file(library.dli_fname, python.folder / "libthing.so.2");
  void* const opened = open_library_or_package("libthing.so.2", "thing");
  EXPECT_NE(dlsym(opened, "erf"), nullptr);
  EXPECT_NE(open_library_or_package("libc.so.6", "thing"), nullptr);
}

}  // namespace
}  // namespace partita
