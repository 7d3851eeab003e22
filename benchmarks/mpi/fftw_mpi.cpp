#include "benchmarks/fftw_mpi.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstddef>

#include "benchmarks/mpi/mpi_world.hpp"

namespace partita::benchmarks {
namespace {

using Plan = void*;
constexpr unsigned measure_flag = 0, transposed_out = 1U << 30;
constexpr int forward = -1;

struct Library {
  void (*init)() = nullptr;
  std::ptrdiff_t (*local_size)(std::ptrdiff_t n0, std::ptrdiff_t n1, std::ptrdiff_t n2, MPI_Comm communicator,
                               std::ptrdiff_t* local_n0, std::ptrdiff_t* first_0, std::ptrdiff_t* local_n1,
                               std::ptrdiff_t* first_1) = nullptr;
  Plan (*plan_dft)(std::ptrdiff_t n0, std::ptrdiff_t n1, std::ptrdiff_t n2, void* in, void* out,
                   MPI_Comm communicator, int sign, unsigned flags) = nullptr;
  Plan (*plan_r2c)(std::ptrdiff_t n0, std::ptrdiff_t n1, std::ptrdiff_t n2, double* in, void* out,
                   MPI_Comm communicator, unsigned flags) = nullptr;
  void (*execute)(Plan plan) = nullptr;
  void (*destroy)(Plan plan) = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

const Library* open() {
  // Local: it brings an FFTW and an MPI with equal names.
  void* const handle = ::dlopen(PARTITA_FFTW_MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  static Library library;
  const bool whole = find(handle, "fftw_mpi_init", library.init) &&
                     find(handle, "fftw_mpi_local_size_3d_transposed", library.local_size) &&
                     find(handle, "fftw_mpi_plan_dft_3d", library.plan_dft) &&
                     find(handle, "fftw_mpi_plan_dft_r2c_3d", library.plan_r2c) &&
                     find(handle, "fftw_execute", library.execute) &&
                     find(handle, "fftw_destroy_plan", library.destroy);
  if (!whole) return nullptr;
  library.init();
  return &library;
}

class OfFftw : public FftwMpi {
 public:
  OfFftw(const Library& library, const Context& context, const Shape& shape, bool real, bool transposed)
      : library_(library) {
    // In place a real line is padded to the length of its half spectrum.
    const std::ptrdiff_t n2 = real ? shape[2] / 2 + 1 : shape[2];
    std::ptrdiff_t rows = 0, first_row = 0, columns = 0, first_column = 0;
    const std::ptrdiff_t mine = library.local_size(shape[0], shape[1], n2, MPI_COMM_WORLD, &rows, &first_row,
                                                   &columns, &first_column);
    std::ptrdiff_t most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    memory_ = empty(context, {most * context.size()}, Slab(0), Dtype::c128);
    auto* const data = memory_.data<std::complex<double>>();
    const unsigned flags = measure_flag | (transposed ? transposed_out : 0);
    prepare();
    plan_ = real ? library.plan_r2c(shape[0], shape[1], shape[2], reinterpret_cast<double*>(data), data,
                                    MPI_COMM_WORLD, flags)
                 : library.plan_dft(shape[0], shape[1], shape[2], data, data, MPI_COMM_WORLD, forward, flags);
    if (plan_ == nullptr) throw Error("FFTW-MPI has no plan");
  }
  ~OfFftw() override { library_.destroy(plan_); }
  OfFftw(const OfFftw&) = delete;
  OfFftw& operator=(const OfFftw&) = delete;

  void prepare() override { fill_random(memory_, 1); }
  void run() override { library_.execute(plan_); }

 private:
  const Library& library_;
  Array memory_;
  Plan plan_ = nullptr;
};

}  // namespace

std::unique_ptr<FftwMpi> make_fftw_mpi(const Context& context, const Shape& shape, bool real,
                                       bool transposed) {
  if (!spans_mpi_world(context)) return nullptr;
  static const Library* const library = open();
  if (library == nullptr) return nullptr;
  return std::make_unique<OfFftw>(*library, context, shape, real, transposed);
}

}  // namespace partita::benchmarks
