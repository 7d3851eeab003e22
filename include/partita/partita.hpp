// Everything: partition once, compose everywhere.
//
// The words of the contracts, in all headers:
//
// - *Collective*: all ranks of the context make the call, in the same order, with the same arguments. What is
//   wrong on one of them is the same exception on all, and nobody is left waiting.
// - *Blocking*: returns when this rank's part is done, within the deadline of the context.
// - *Local*: of this rank alone; no rank waits for another. *Pure*: a local function of its
//   arguments, without a context or anything else that it would change.
// - *Errors*: those that are named, and of every collective call TimeoutError, LostPeerError and
//   FailedContextError besides.
// - *Threads*: a context, its arrays and the objects made in it belong to one thread at a time; those of
//   different contexts may be used by different threads. Values (distributions, layouts, operands, plans,
//   scalars, extents) may be read by several at once; pure functions are thread-safe.
// - *Ownership*: contexts and arrays are handles, whose copies share what they stand for and keep it alive. A
//   View and a Stream own nothing.
// - *Units*: shapes, indices, counts and strides are in elements, and of the whole array where nothing says
//   "local"; sizes of memory in bytes; times in seconds where they have no type of their own.
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
#include <partita/elements.hpp>
#include <partita/elementwise.hpp>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/float8.hpp>
#include <partita/half.hpp>
#include <partita/io.hpp>
#include <partita/layout.hpp>
#include <partita/machine.hpp>
#include <partita/matmul.hpp>
#include <partita/memory.hpp>
#include <partita/mpi_report.hpp>
#include <partita/plan.hpp>
#include <partita/print.hpp>
#include <partita/redistribute.hpp>
#include <partita/refusal.hpp>
#include <partita/scalar.hpp>
#include <partita/settings.hpp>
#include <partita/spectral.hpp>
#include <partita/trace.hpp>
#include <partita/verify_numbers.hpp>
#include <partita/version.hpp>
