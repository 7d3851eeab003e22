
#include "base/opened_library.hpp"
#include "support/test.hpp"

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
  // Any library will do; of this one sanitizers put some other functions into the program.
  const std::string real = path_of_library(reinterpret_cast<void*>(static_cast<double (*)(double)>(&::erf)));
  std::filesystem::copy_file(real, python.folder / "libthing.so.2");
  void* const opened = open_library_or_package("libthing.so.2", "thing");
  EXPECT_EQ(path_of_library(symbol_of<void*>(opened, "libthing", "erf")),
            std::filesystem::canonical(python.folder / "libthing.so.2"));
  EXPECT_NE(open_library_or_package("libc.so.6", "thing"), nullptr);
}

}  // namespace
}  // namespace partita
