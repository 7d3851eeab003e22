#include "benchmarks/mpi_peers.hpp"

#include <dlfcn.h>

#include <partita/mpi_report.hpp>
#include <string>

namespace partita::benchmarks {
namespace {

/// Beside the module that the library has opened. Null where it is not there.
const MpiPeers* open(const MpiReport& report) {
  for (const MpiReport::Module& module : report.modules) {
    if (module.name != report.module) continue;
    const std::string folder = module.path.substr(0, module.path.rfind('/'));
    void* const handle =
        ::dlopen((folder + "/libpartita-peers-" + module.name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    const auto peers = reinterpret_cast<PeersOfModule*>(::dlsym(handle, "partita_mpi_peers"));
    return peers == nullptr ? nullptr : peers();
  }
  return nullptr;
}

/// None where no context has taken an MPI.
MpiPeers peers() {
  static const MpiPeers none;
  const MpiReport report = report_mpi();
  if (!report.taken) return none;
  static const MpiPeers* const found = open(report);
  return found == nullptr ? none : *found;
}

}  // namespace

std::unique_ptr<PackedAlltoallv> make_alltoallv(const Context& context, const Layout& source,
                                                const Layout& destination, bool transposed) {
  const auto make = peers().alltoallv;
  return make == nullptr ? nullptr : make(context, source, destination, transposed);
}

std::function<void()> make_mpi_collective(const Context& context, Collective which, const float* source,
                                          float* destination, std::int64_t bytes) {
  const auto make = peers().collective;
  return make == nullptr ? nullptr : make(context, which, source, destination, bytes);
}

std::unique_ptr<FftwMpi> make_fftw_mpi(const Context& context, const Shape& shape, bool real,
                                       bool transposed) {
  const auto make = peers().fftw;
  return make == nullptr ? nullptr : make(context, shape, real, transposed);
}

std::unique_ptr<Pdgemm> make_pdgemm(PdgemmLibrary library, const Context& context,
                                    const PdgemmProblem& problem) {
  const auto make = peers().pdgemm;
  return make == nullptr ? nullptr : make(library, context, problem);
}

std::unique_ptr<Pdgemr2d> make_pdgemr2d(const Context& context, const Shape& shape, const BlacsLayout& source,
                                        const BlacsLayout& destination) {
  const auto make = peers().pdgemr2d;
  return make == nullptr ? nullptr : make(context, shape, source, destination);
}

std::unique_ptr<ScalapackFactors> make_scalapack_factors(const Context& context,
                                                         const FactorProblem& problem) {
  const auto make = peers().factors;
  return make == nullptr ? nullptr : make(context, problem);
}

std::function<void()> make_pdsyevd(const Context& context, const EigenProblem& problem, double* a,
                                   double* values, double* vectors) {
  const auto make = peers().eigen;
  return make == nullptr ? nullptr : make(context, problem, a, values, vectors);
}

}  // namespace partita::benchmarks
