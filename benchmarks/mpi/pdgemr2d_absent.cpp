#include "benchmarks/pdgemr2d.hpp"

namespace partita::benchmarks {

std::unique_ptr<Pdgemr2d> make_pdgemr2d(const Context& /*context*/, const Shape& /*shape*/,
                                        const BlacsLayout& /*source*/, const BlacsLayout& /*destination*/) {
  return nullptr;
}

}  // namespace partita::benchmarks
