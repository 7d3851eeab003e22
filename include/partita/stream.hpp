// Where work on a device is put: a queue that runs in order.
#pragma once

namespace partita {

/// A stream of a context's device; owns nothing. `handle` is the runtime's own (a cudaStream_t); null means
/// the stream of the context.
struct Stream {
  void* handle = nullptr;
};

}  // namespace partita
