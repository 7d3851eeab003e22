#include "benchmarks/pdgemm.hpp"

namespace partita::benchmarks {

std::unique_ptr<Pdgemm> make_pdgemm(PdgemmLibrary /*library*/, const Context& /*context*/,
                                    const PdgemmProblem& /*problem*/) {
  return nullptr;
}

}  // namespace partita::benchmarks
