// All public headers except <partita/mpi.hpp>.
//
// Terms of the contracts in all headers:
//
// - *Collective*: all ranks of the context must make the call, in the same order, with the same arguments.
//   An error on one rank is the same exception on all ranks, and no rank is left waiting.
// - *Blocking*: returns when this rank's part is complete, within the deadline of the context.
// - *Local*: any rank may make the call independently; no rank waits for another. *Pure*: a local function of
//   its arguments, without a context and without side effects.
// - *Errors*: those that are listed; for every collective call also TimeoutError, LostPeerError and
//   FailedContextError.
// - *Threads*: only one thread at a time may use a context, its arrays and the objects made in it; those of
//   different contexts may be used by different threads. Values (distributions, layouts, operands, plans,
//   scalars, extents) may be read by several threads at once; pure functions are thread-safe.
// - *Ownership*: contexts and arrays are handles: copies refer to the same object and keep it alive. A
//   View and a Stream own nothing.
// - *Units*: shapes, indices, counts and strides are in elements, and global unless they are called
//   "local"; sizes of memory in bytes; times in seconds unless they have their own type.
#pragma once

#include <partita/along.hpp>
#include <partita/array.hpp>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/collectives.hpp>
#include <partita/compute_type.hpp>
#include <partita/context.hpp>
#include <partita/create.hpp>
#include <partita/distribution.hpp>
#include <partita/dlpack.hpp>
#include <partita/dtype.hpp>
#include <partita/dtype_constants.hpp>
#include <partita/eigen.hpp>
#include <partita/elements.hpp>
#include <partita/elementwise.hpp>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/float8.hpp>
#include <partita/functions.hpp>
#include <partita/half.hpp>
#include <partita/io.hpp>
#include <partita/layout.hpp>
#include <partita/linalg.hpp>
#include <partita/machine.hpp>
#include <partita/matmul.hpp>
#include <partita/memory.hpp>
#include <partita/mpi_report.hpp>
#include <partita/names.hpp>
#include <partita/nan_reductions.hpp>
#include <partita/op.hpp>
#include <partita/places.hpp>
#include <partita/plan.hpp>
#include <partita/print.hpp>
#include <partita/quantiles.hpp>
#include <partita/redistribute.hpp>
#include <partita/refusal.hpp>
#include <partita/scalar.hpp>
#include <partita/scans.hpp>
#include <partita/selection.hpp>
#include <partita/settings.hpp>
#include <partita/sorting.hpp>
#include <partita/spectral.hpp>
#include <partita/statistics.hpp>
#include <partita/trace.hpp>
#include <partita/transform.hpp>
#include <partita/verify_numbers.hpp>
#include <partita/version.hpp>
