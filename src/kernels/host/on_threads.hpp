// Work for several threads.
#pragma once

#include <functional>

namespace partita::kernels {

void start_threads(int count, const std::function<void(int)>& work);

/// Calls `work` with 0 .. count - 1, each in a thread of its own, but 0 in this one, which does what no
/// thread is to be had for. Throws what one of them throws, when all have ended.
template <class Work>
void on_threads(int count, const Work& work) {
  if (count <= 1) return work(0);
  start_threads(count, std::cref(work));
}

}  // namespace partita::kernels
