// The calls of one MPI. Compiled once for each installed MPI, with its mpi.h, into a separate library
// that is not linked to MPI: when it is opened, the process has an MPI of that family, whatever program has
// built it.
#include <mpi.h>

#include <cstring>
#include <partita/export.hpp>
#include <partita/mpi.hpp>
#include <partita/version.hpp>
#include <string>

#include "mpi/calls.hpp"

namespace partita::mpi {
namespace {

static_assert(MPI_SUCCESS == success);
static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= longest_text && MPI_MAX_ERROR_STRING <= longest_text);

template <class Ours, class Native>
Ours ours(Native handle) {
  Ours result;
  static_assert(sizeof(handle) <= sizeof(result.bits));
  std::memcpy(&result.bits, &handle, sizeof(handle));
  return result;
}
template <class Native, class Ours>
Native native(Ours handle) {
  Native result;
  std::memcpy(&result, &handle.bits, sizeof(result));
  return result;
}
MPI_Comm native(Comm comm) {
  return native<MPI_Comm>(comm);
}
// Where MPI writes handles, which begin where ours do.
MPI_Comm* place(Comm* comm) {
  return reinterpret_cast<MPI_Comm*>(&comm->bits);
}
MPI_Request* place(Request* request) {
  return reinterpret_cast<MPI_Request*>(&request->bits);
}

void get_library_version(char* text) {
  int length = 0;
  MPI_Get_library_version(text, &length);
}
bool initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}
bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

ThreadLevel level_of(int provided) {
  if (provided >= MPI_THREAD_MULTIPLE) return ThreadLevel::multiple;
  if (provided >= MPI_THREAD_SERIALIZED) return ThreadLevel::serialized;
  return provided >= MPI_THREAD_FUNNELED ? ThreadLevel::funneled : ThreadLevel::single;
}
int init_thread(ThreadLevel* provided) {
  int level = MPI_THREAD_SINGLE;
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  *provided = level_of(level);
  return code;
}
int query_thread(ThreadLevel* provided) {
  int level = MPI_THREAD_SINGLE;
  const int code = MPI_Query_thread(&level);
  *provided = level_of(level);
  return code;
}
bool is_thread_main() {
  int flag = 0;
  MPI_Is_thread_main(&flag);
  return flag != 0;
}

void error_string(int code, char* text) {
  int length = 0;
  MPI_Error_string(code, text, &length);
}
bool is_truncation(int code) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  return kind == MPI_ERR_TRUNCATE;
}

void comm_rank(Comm comm, int* rank) {
  MPI_Comm_rank(native(comm), rank);
}
void comm_size(Comm comm, int* size) {
  MPI_Comm_size(native(comm), size);
}
bool comm_test_inter(Comm comm) {
  int flag = 0;
  MPI_Comm_test_inter(native(comm), &flag);
  return flag != 0;
}
int comm_idup(Comm comm, Comm* duplicate, Request* request) {
  return MPI_Comm_idup(native(comm), place(duplicate), place(request));
}
void comm_free(Comm* comm) {
  MPI_Comm_free(place(comm));
}
int largest_tag(Comm comm) {
  int found = 0;
  const int* largest = nullptr;
  MPI_Comm_get_attr(native(comm), MPI_TAG_UB, static_cast<void*>(&largest), &found);
  return found != 0 ? *largest : 32767;  // the least that MPI allows
}

using Forget = void(Comm comm, void* value);
int forget_attribute(MPI_Comm comm, int, void* value, void* forget) {
  reinterpret_cast<Forget*>(forget)(ours<Comm>(comm), value);
  return MPI_SUCCESS;
}
int comm_create_keyval(Forget* forget) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &forget_attribute, &key, reinterpret_cast<void*>(forget));
  return key;
}
int comm_set_attr(Comm comm, int key, void* value) {
  return MPI_Comm_set_attr(native(comm), key, value);
}
void* comm_get_attr(Comm comm, int key) {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(native(comm), key, static_cast<void*>(&value), &found);
  return found != 0 ? value : nullptr;
}

void return_errors(Comm comm) {
  MPI_Comm_set_errhandler(native(comm), MPI_ERRORS_RETURN);
}
ErrorHandler comm_get_errhandler(Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(native(comm), &handler);
  return ours<ErrorHandler>(handler);
}
void restore_errhandler(Comm comm, ErrorHandler before) {
  auto handler = native<MPI_Errhandler>(before);
  MPI_Comm_set_errhandler(native(comm), handler);
  const bool predefined = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
  if (!predefined) MPI_Errhandler_free(&handler);
}

int isend(const void* data, int bytes, int rank, int tag, Comm comm, Request* request) {
  return MPI_Isend(data, bytes, MPI_BYTE, rank, tag, native(comm), place(request));
}
int irecv(void* data, int bytes, int rank, int tag, Comm comm, Request* request) {
  return MPI_Irecv(data, bytes, MPI_BYTE, rank, tag, native(comm), place(request));
}
int test(Request* request, bool* complete, int* received) {
  int flag = 0;
  MPI_Status status;
  const int code = MPI_Test(place(request), &flag, &status);
  *complete = flag != 0;
  if (code == MPI_SUCCESS && flag != 0 && received != nullptr) MPI_Get_count(&status, MPI_BYTE, received);
  return code;
}
void cancel(Request* request) {
  MPI_Cancel(place(request));
}
int iprobe(int tag, Comm comm, bool* arrived, int* source) {
  int flag = 0;
  MPI_Status status;
  const int code = MPI_Iprobe(MPI_ANY_SOURCE, tag, native(comm), &flag, &status);
  *arrived = code == MPI_SUCCESS && flag != 0;
  if (*arrived) *source = status.MPI_SOURCE;
  return code;
}
int recv(void* data, int bytes, int rank, int tag, Comm comm) {
  return MPI_Recv(data, bytes, MPI_BYTE, rank, tag, native(comm), MPI_STATUS_IGNORE);
}
int iallgather(const void* mine, void* all, int bytes, Comm comm, Request* request) {
  return MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, native(comm), place(request));
}
int ibarrier(Comm comm, Request* request) {
  return MPI_Ibarrier(native(comm), place(request));
}

}  // namespace
}  // namespace partita::mpi

extern "C" PARTITA_API const partita::mpi::Calls* partita_mpi_calls() {
  using namespace partita::mpi;
  static const std::string implementation = partita::mpi_implementation();
  static const Calls calls{
      .partita_version = PARTITA_VERSION,
      .implementation = implementation.c_str(),
      .handle_bytes = static_cast<int>(sizeof(MPI_Comm)),
      .world = ours<Comm>(MPI_COMM_WORLD),
      .self = ours<Comm>(MPI_COMM_SELF),
      .no_comm = ours<Comm>(MPI_COMM_NULL),
      .no_request = ours<Request>(MPI_REQUEST_NULL),
      .get_library_version = &get_library_version,
      .initialized = &initialized,
      .finalized = &finalized,
      .init_thread = &init_thread,
      .query_thread = &query_thread,
      .is_thread_main = &is_thread_main,
      .finalize = &MPI_Finalize,
      .error_string = &error_string,
      .is_truncation = &is_truncation,
      .comm_rank = &comm_rank,
      .comm_size = &comm_size,
      .comm_test_inter = &comm_test_inter,
      .comm_idup = &comm_idup,
      .comm_free = &comm_free,
      .largest_tag = &largest_tag,
      .comm_create_keyval = &comm_create_keyval,
      .comm_set_attr = &comm_set_attr,
      .comm_get_attr = &comm_get_attr,
      .return_errors = &return_errors,
      .comm_get_errhandler = &comm_get_errhandler,
      .restore_errhandler = &restore_errhandler,
      .isend = &isend,
      .irecv = &irecv,
      .test = &test,
      .cancel = &cancel,
      .iprobe = &iprobe,
      .recv = &recv,
      .iallgather = &iallgather,
      .ibarrier = &ibarrier,
  };
  return &calls;
}
