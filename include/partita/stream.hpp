// Device streams, and the meaning of the `stream` of a call.
//
// Every call that can be enqueued on a stream takes one `std::optional<Stream> stream`: the first member of
// its options or, where it has none, its last parameter (before `SourcePlace where`).
//
// - If unset, the call blocks: it is complete when it returns. Collectives on views, halo exchanges and
//   elementwise functions are the exception: on device memory they are enqueued on the context's own stream,
//   as with `Stream{}`.
// - If set, the call is stream-ordered: it runs after all work that was enqueued on the stream before, and
//   work that is enqueued afterwards runs after it. The call returns without waiting, unless its
//   documentation says that the host waits. The arrays must be in device memory, otherwise UnsupportedError;
//   only calls other than redistribute, fft and matmul accept `Stream{}` for host memory, and block. Where a
//   call makes a new plan or a new array, and where an error is reported, the ranks synchronise on the host
//   first.
// - The stream is not part of a plan: the plan that a context keeps for a call serves all streams. The
// options
//   of a plan object (`Redistribute`, `Matmul`, `FFT`, `Halo`) must leave it unset (ArgumentError); pass it
//   to `execute`.
#pragma once

#include <partita/language.hpp>
#include <type_traits>

namespace partita {

/// A stream of a context's device; owns nothing. `Stream{}` is the context's own stream. A given handle is
/// one of the runtime (a cudaStream_t) with its meaning there: null and cudaStreamLegacy are CUDA's default
/// stream (the handle 0 that PyTorch uses by default), cudaStreamPerThread is that of the thread.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t
  bool given = false;      ///< false: the context's own stream

  constexpr Stream() = default;
  /// From a cudaStream_t or nullptr, but not from the number 0.
  template <class Native>
  requires(std::is_pointer_v<Native> || std::is_null_pointer_v<Native>) constexpr Stream(Native native)
      : handle(native), given(true) {}
};

}  // namespace partita
