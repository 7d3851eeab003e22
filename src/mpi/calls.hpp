// What Partita calls of MPI, without any mpi.h: a table of functions that a module fills in. A module is
// compiled with the mpi.h of its MPI and opened at run time; all else of Partita is compiled once, for every
// MPI.
#pragma once

#include <cstdint>

namespace partita::mpi {

/// The bytes of one of MPI's handles, from the first on: a number in MPICH's family, a pointer in Open MPI.
template <class Kind>
struct Handle {
  std::uint64_t bits = 0;
  friend bool operator==(const Handle&, const Handle&) = default;
};
using Comm = Handle<struct CommKind>;
using Request = Handle<struct RequestKind>;
using ErrorHandler = Handle<struct ErrorHandlerKind>;

enum class ThreadLevel : std::int8_t { unknown = -1, single, funneled, serialized, multiple };

inline constexpr int success = 0;  ///< MPI_SUCCESS, of every MPI
/// Bytes of a text, its end included: MPI_MAX_LIBRARY_VERSION_STRING and MPI_MAX_ERROR_STRING, of no MPI are
/// more.
inline constexpr int longest_text = 8192;

/// The functions do what MPI's of the same name do, and return its code where they return an int. Messages
/// are of bytes. None throws.
struct Calls {
  const char* partita_version;  ///< of the Partita that the module was built for: whose table this is
  const char* implementation;   ///< "Open MPI 4", "MPICH 4": of its mpi.h
  int handle_bytes;             ///< of an MPI_Comm
  Comm world, self, no_comm;
  Request no_request;

  void (*get_library_version)(char* text);
  bool (*initialized)();
  bool (*finalized)();
  int (*init_thread)(ThreadLevel* provided);  ///< asks for `multiple`
  int (*query_thread)(ThreadLevel* provided);
  bool (*is_thread_main)();
  int (*finalize)();
  void (*error_string)(int code, char* text);
  bool (*is_truncation)(int code);  ///< of the class MPI_ERR_TRUNCATE

  void (*comm_rank)(Comm comm, int* rank);
  void (*comm_size)(Comm comm, int* size);
  bool (*comm_test_inter)(Comm comm);
  int (*comm_idup)(Comm comm, Comm* duplicate, Request* request);  ///< writes to both until it is complete
  void (*comm_free)(Comm* comm);
  /// MPI_TAG_UB.
  int (*largest_tag)(Comm comm);
  /// The key of an attribute. `forget` is called with its value when the communicator is freed, not when it
  /// is duplicated.
  int (*comm_create_keyval)(void (*forget)(Comm comm, void* value));
  int (*comm_set_attr)(Comm comm, int key, void* value);
  void* (*comm_get_attr)(Comm comm, int key);  ///< null: not set
  /// From here on errors come back as codes.
  void (*return_errors)(Comm comm);
  ErrorHandler (*comm_get_errhandler)(Comm comm);
  /// Of `comm_get_errhandler`, which it gives back.
  void (*restore_errhandler)(Comm comm, ErrorHandler handler);

  int (*isend)(const void* data, int bytes, int rank, int tag, Comm comm, Request* request);
  int (*irecv)(void* data, int bytes, int rank, int tag, Comm comm, Request* request);
  /// `received`: for a receive, the number of bytes received; null: not requested.
  int (*test)(Request* request, bool* complete, int* received);
  void (*cancel)(Request* request);
  int (*iprobe)(int tag, Comm comm, bool* arrived, int* source);  ///< from any rank
  int (*recv)(void* data, int bytes, int rank, int tag, Comm comm);
  int (*iallgather)(const void* mine, void* all, int bytes, Comm comm, Request* request);
  int (*ibarrier)(Comm comm, Request* request);
};

/// What a module exports under the name `partita_mpi_calls`. The table lives as long as the process.
using CallsOfModule = const Calls*();

}  // namespace partita::mpi
