
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
  EXPECT_EQ(find_in_python_packages("nvidia/thing/lib/libthing.so.1"), "");
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const Setting active(name, python.root.string());
    EXPECT_EQ(find_in_python_packages("nvidia/thing/lib/libthing.so.1"),
              (python.folder / "libthing.so.1").string());
  }
  const Setting path("PYTHONPATH", "/nowhere:" + python.packages.string());
  EXPECT_EQ(find_in_python_packages("nvidia/thing/lib/libthing.so.1"),
            (python.folder / "libthing.so.1").string());
  EXPECT_EQ(find_in_python_packages("nvidia/thing/lib/libthing.so.2"), "");
}

TEST(PythonPackages, AreOpenedWhereTheLoaderFindsNothing) {
  const Environment python;
  const Setting path("PYTHONPATH", python.packages.string());
  EXPECT_THROW((void)open_library_or_package("libthing.so.1", "thing"), UnsupportedError);
  std::ofstream(python.folder / "libthing.so.1") << "no library";
  EXPECT_THROW((void)open_library_or_package("libthing.so.1", "thing"), UnsupportedError);
  // Any library is sufficient; of this one sanitizers put some other functions into the program.
  const std::string real = path_of_library(reinterpret_cast<void*>(static_cast<double (*)(double)>(&::erf)));
  std::filesystem::copy_file(real, python.folder / "libthing.so.2");
  void* const opened = open_library_or_package("libthing.so.2", "thing");
  EXPECT_EQ(path_of_library(symbol_of<void*>(opened, "libthing", "erf")),
            std::filesystem::canonical(python.folder / "libthing.so.2"));
  EXPECT_NE(open_library_or_package("libc.so.6", "thing"), nullptr);
}

// auditwheel adds a hash to the names of libraries that it puts into wheels.
TEST(PythonPackages, AreFoundByPatterns) {
  const Environment python;
  const std::filesystem::path folder = python.packages / "thing.libs";
  std::filesystem::create_directories(folder);
  const Setting active("VIRTUAL_ENV", python.root.string());
  EXPECT_EQ(find_in_python_packages("thing.libs/libthing-*.so*"), "");
  std::ofstream(folder / "libthing_threads-6b98.so.3") << "x";
  EXPECT_EQ(find_in_python_packages("thing.libs/libthing-*.so*"), "");
  std::ofstream(folder / "libthing-6b98.so.3.5") << "x";
  EXPECT_EQ(find_in_python_packages("thing.libs/libthing-*.so*"), (folder / "libthing-6b98.so.3.5").string());
  EXPECT_EQ(find_in_folder(folder, "libthing_threads-*"), (folder / "libthing_threads-6b98.so.3").string());
  EXPECT_EQ(find_in_folder(folder / "missing", "*"), "");
}

TEST(PythonPackages, ReplaceLibrariesThatTheLoaderDoesNotFind) {
  const Environment python;
  const Setting active("VIRTUAL_ENV", python.root.string());
  const std::array<const char*, 2> files{"nvidia/thing/lib/libnothing.so", "nvidia/thing/lib/libthing-*.so"};
  const std::string refused = testing::caught<UnsupportedError>(
      [&] { (void)open_library_or_file("libthing.so.9", files, "none ({}); install it"); });
  EXPECT_TRUE(refused.starts_with("none (libthing.so.9: cannot open") && refused.ends_with("); install it"))
      << refused;
  const std::string real = path_of_library(reinterpret_cast<void*>(static_cast<double (*)(double)>(&::erf)));
  std::filesystem::copy_file(real, python.folder / "libthing-1.so");
  void* const opened = open_library_or_file("libthing.so.9", files, "none ({})");
  EXPECT_EQ(path_of_library(symbol_of<void*>(opened, "libthing", "erf")),
            std::filesystem::canonical(python.folder / "libthing-1.so"));
}

TEST(PythonPackages, ContainTheFilesBelowTheirFolder) {
  EXPECT_EQ(folder_of_packages("/venv/lib/python3.12/site-packages/partita/../partita/libpartita.so.0.1"),
            "/venv/lib/python3.12/site-packages");
  EXPECT_EQ(folder_of_packages("/usr/lib/python3/dist-packages/a/b/c.so"), "/usr/lib/python3/dist-packages");
  EXPECT_EQ(folder_of_packages("/usr/lib/libpartita.so"), "");
  EXPECT_EQ(folder_of_packages(""), "");
}

}  // namespace
}  // namespace partita
