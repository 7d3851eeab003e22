// Products that go to the processes' GPUs and come back, where that costs less.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/machine.hpp>
#include <partita/matmul.hpp>

#include "grid.hpp"

namespace partita::scalapack {

/// The figures of the GPUs. Environment: PARTITA_SCALAPACK_DEVICE, "cuda" (node-8-gpu) or "cuda:MACHINE", a
/// shipped description or the path of one. Nothing where it is unset or "cpu": all is multiplied by the CPUs.
/// Throws ArgumentError where it is anything else.
const std::optional<Machine>& machine_of_devices();

/// Whether D = op(A) op(B) + beta C of arrays in host memory costs less on GPUs of that machine, the way of
/// A, B, C and D over the bus included. Both are priced for the process that has the first element of D, the
/// CPUs by the figures of Machine::here(). Pure: the same on all processes.
bool costs_less_on_devices(const MatmulOperands& operands, const Topology& topology,
                           const MatmulOptions& options, const Machine& devices);

/// C = op(A) op(B) + beta C on GPUs, with copies that are freed afterwards. `reads_c`: else C is not read.
/// False: the GPUs have no room for them, on all processes; C is as it was. Collective, blocking.
bool multiplied_on_devices(Grid& grid, const Array& a, const Array& b, const Array& c, bool reads_c,
                           const MatmulOptions& options);

}  // namespace partita::scalapack
