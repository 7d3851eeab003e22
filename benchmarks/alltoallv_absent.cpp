#include "benchmarks/alltoallv.hpp"

namespace partita::benchmarks {

std::unique_ptr<PackedAlltoallv> make_alltoallv(const Context& /*context*/, const Layout& /*source*/,
                                                const Layout& /*destination*/, bool /*transposed*/) {
  return nullptr;
}

}  // namespace partita::benchmarks
