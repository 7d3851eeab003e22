// Where work on a device is put: a queue that runs in order.
#pragma once

#include <partita/language.hpp>
#include <type_traits>

namespace partita {

/// A stream of a context's device; owns nothing. `Stream{}` is none: the context's own is meant. A handle
/// that is given is the runtime's own (a cudaStream_t), and means what it means there: null, as
/// cudaStreamLegacy, is CUDA's default stream (the handle 0 that PyTorch has by default), cudaStreamPerThread
/// the thread's own.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t
  bool given = false;      ///< not the context's own

  constexpr Stream() = default;
  /// Of a cudaStream_t or nullptr; the number 0 is neither.
  template <class Native>
  requires(std::is_pointer_v<Native> || std::is_null_pointer_v<Native>) constexpr Stream(Native native)
      : handle(native), given(true) {}
};

}  // namespace partita
