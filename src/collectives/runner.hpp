// What carries out one kind of call again and again.
#pragma once

#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>

namespace partita::collective {

class Runner {
 public:
  virtual ~Runner() = default;
  /// Collective. One view an operand. Blocking in host memory; on a device the work is put into the stream.
  virtual void run(std::span<const View> views, Stream stream) = 0;
};

}  // namespace partita::collective
