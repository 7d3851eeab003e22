// The MPI library of this process: initialised and checked. For the files of the mpi backend only.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <partita/context.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/calls.hpp"

namespace partita::runtime {

/// Initialises the MPI that `open_mpi` has opened, if it is not initialised. Throws ArgumentError if MPI has
/// been finalised, UnsupportedError in a fork of the process that called it first.
void start_mpi();

/// Throws UnsupportedError where MPI's world is of one rank under a launcher that has started several: an MPI
/// that does not understand the launcher, whether we or the program initialised it, starts all the same.
void check_world_is_of_launcher();

/// This process is a fork of the one that called `start_mpi`.
bool mpi_is_of_parent() noexcept;

/// MPI_Finalize has been called, by whomever.
bool mpi_is_finalised();

/// Stands around MPI calls and keeps them to what the thread level allows: under MPI_THREAD_SERIALIZED one
/// thread at a time, below that only the thread that initialised MPI (Error in any other one).
class MpiCall {
 public:
  MpiCall();

 private:
  std::unique_lock<std::mutex> lock_;
};

/// Throws Error with MPI's own text unless `code` is that of success.
void check_mpi(int code, std::string_view operation);

/// Polls the request. False: the deadline passed or `give_up` said so, and the request is still active. For
/// the moments before a context (whose WaitLoop does this) exists and after the last one.
bool wait_mpi(mpi::Request& request, std::chrono::milliseconds deadline, std::string_view operation,
              const std::function<bool()>& give_up = {});

/// Errors of these communicators come back to us while this lives, and go not to the handlers that their
/// owners chose.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(std::initializer_list<mpi::Comm> communicators);
  ~ReturnedErrors();
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;

 private:
  std::vector<std::pair<mpi::Comm, mpi::ErrorHandler>> before_;
};

}  // namespace partita::runtime
