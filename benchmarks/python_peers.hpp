// Peers that are programs of benchmarks/peers, in separate processes.
#pragma once

#include <partita/context.hpp>
#include <string>
#include <vector>

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// A program of benchmarks/peers and its arguments, warmed up, is added if it runs; else it has said why.
/// `ranks`: of MPI that it needs; 0: none. PARTITA_BENCH_PYTHON (python3) runs it, PARTITA_BENCH_PEERS names
/// the folder where that is not the one of the sources. False: it does not run here. Collective.
bool add_python_peer(const Context& context, std::vector<Contender>& contenders, const std::string& name,
                     std::vector<std::string> words, int ranks = 0);

}  // namespace partita::benchmarks
