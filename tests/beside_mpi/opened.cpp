// A program that is linked with no MPI, opens one for itself alone, as Python does for its extensions, starts
// it, and hands its communicator to Partita.
//
//   opened LIBRARY...    the first of them that can be opened
//
// Exits with 0 where Partita takes that MPI, and refuses communicators of others.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <partita/error.hpp>
#include <partita/mpi_report.hpp>
#include <partita/partita.hpp>
#include <string>

namespace {

int wrong = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++wrong;
  std::fprintf(stderr, "opened: %s\n", what.c_str());
}

void* open_first(int count, char** libraries) {
  for (int i = 0; i < count; ++i) {
    if (void* const handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  std::fprintf(stderr, "opened: %s\n", dlerror());
  return nullptr;
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string version_of(void* library) {
  std::array<char, 8192> text{};
  int length = 0;
  find<int(char*, int*)>(library, "MPI_Get_library_version")(text.data(), &length);
  return text.data();
}

/// MPI_COMM_WORLD, without the mpi.h that says what it is: the address of a name in Open MPI, a number in
/// MPICH.
partita::Communicator world_of(void* library) {
  partita::Communicator world;
  world.implementation = version_of(library);
  const void* const open_mpi = dlsym(library, "ompi_mpi_comm_world");
  const int mpich = 0x44000000;
  world.handle_bytes = static_cast<int>(open_mpi != nullptr ? sizeof(open_mpi) : sizeof(mpich));
  const void* const handle = open_mpi != nullptr ? static_cast<const void*>(&open_mpi) : &mpich;
  std::memcpy(world.handle.data(), handle, static_cast<std::size_t>(world.handle_bytes));
  return world;
}

void use(const partita::Context& context) {
  using namespace partita;
  Array rows = empty(context, {31, 17}, Slab(0), Dtype::f64);
  fill_random(rows, 1);
  expect(compare(rows, redistribute(rows, Slab(1))).equal, "a redistribution is wrong");
}

/// As an ArgumentError, or as an UnsupportedError where this build has no module for such an MPI.
void expect_refusal(partita::Communicator communicator, const std::string& implementation) {
  communicator.implementation = implementation;
  const auto names_it = [&](const partita::Error& error) {
    expect(std::strstr(error.what(), implementation.c_str()) != nullptr, error.what());
  };
  try {
    (void)partita::initialize({.communicator = communicator});
    expect(false, "a communicator of " + implementation + " is taken");
  } catch (const partita::ArgumentError& error) {
    names_it(error);
  } catch (const partita::UnsupportedError& error) {
    names_it(error);
  }
}

void run(void* library) {
  partita::ContextOptions options{.communicator = world_of(library)};
  const bool is_open_mpi = options.communicator.implementation.starts_with("Open MPI");
  const std::string other = is_open_mpi ? "MPICH 4" : "Open MPI 4";
  expect_refusal(options.communicator, other);
  expect(!partita::report_mpi().taken, "what was refused is taken");
  partita::Context context = partita::initialize(options);
  use(context);
  expect_refusal(options.communicator, other);
  const partita::MpiReport report = partita::report_mpi();
  expect(report.taken && options.communicator.implementation.starts_with(report.description.substr(0, 8)),
         "another MPI is taken: " + report.description);
  expect(report.why == "it runs in this process", report.why);
  const partita::Context of_its_own = partita::initialize();  // of the MPI that runs
  expect(of_its_own.size() == context.size(), "the world has another size");
  context.close();
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = open_first(argc - 1, argv + 1);
  if (library == nullptr) return 1;
  find<int(int*, char***)>(library, "MPI_Init")(nullptr, nullptr);
  run(library);
  find<int()>(library, "MPI_Finalize")();
  return wrong == 0 ? 0 : 1;
}
