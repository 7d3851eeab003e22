// Handlers for XLA's calls on devices, called by programs on the CPU: with a stream of a fake device in the
// place of XLA's own. Arguments come late, and results are read in the stream, so what does not keep its
// order fails.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "bindings/python/src/xla_abi.hpp"
#include "support/fakes/fake_device.hpp"

namespace {

namespace xla = partita::python::xla;
using Handler = xla::Error* (*)(xla::Frame*);

/// XLA's threads and their streams stay until the process ends.
partita::Stream stream_of_thread() {
  static thread_local auto* const own = new partita::testing::FakeStream;
  return own->stream();
}

xla::Error* say_stream(xla::StreamQuestion* question) {
  question->stream = stream_of_thread().handle;
  return nullptr;
}

/// On which every call runs, where it is not that of its context: -1.
std::atomic<int> device_of_calls = -1;

xla::Error* say_device(xla::DeviceQuestion* question) {
  question->device = device_of_calls;
  return nullptr;
}

std::size_t bytes_of(const xla::Buffer& buffer) {
  constexpr std::array<std::size_t, 21> sizes{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 8, 2, 0, 16, 1, 1};
  std::size_t bytes = sizes.at(static_cast<std::size_t>(buffer.dtype));
  for (std::int64_t i = 0; i < buffer.dimensions; ++i) bytes *= static_cast<std::size_t>(buffer.extents[i]);
  return bytes;
}

/// Memory in the place of XLA's: what the handler sees.
class StandIns {
 public:
  explicit StandIns(xla::Frame& frame) {
    stand_in(frame.arguments, arguments_);
    stand_in(frame.results, results_);
  }

  void bring() { copy(arguments_, true); }
  void take_back() { copy(results_, false); }

 private:
  struct StandIn {
    xla::Buffer seen;
    void* real;
  };
  struct Side {
    std::vector<StandIn> all;
    std::vector<xla::Buffer*> buffers;
  };

  void stand_in(xla::Buffers& given, Side& side) {
    side.all.resize(static_cast<std::size_t>(given.count));
    for (std::size_t i = 0; i < side.all.size(); ++i) {
      StandIn& one = side.all[i];
      one = {*given.buffers[i], given.buffers[i]->data};
      const std::size_t bytes = bytes_of(one.seen);
      if (bytes > 0) {
        std::vector<double>& memory = memory_[one.real];  // of results in place the argument's
        if (memory.empty()) memory.assign(bytes / 8 + 2, 1e300);
        one.seen.data = memory.data();
      }
      side.buffers.push_back(&one.seen);
    }
    given.buffers = side.buffers.data();
  }

  static void copy(const Side& side, bool there) {
    for (const StandIn& one : side.all) {
      const std::size_t bytes = bytes_of(one.seen);
      if (bytes == 0) continue;
      void* const to = there ? one.seen.data : one.real;
      const void* const from = there ? one.real : one.seen.data;
      partita::testing::put_into_fake_stream(stream_of_thread(),
                                             [to, from, bytes] { std::memcpy(to, from, bytes); });
    }
  }

  std::map<void*, std::vector<double>> memory_;
  Side arguments_, results_;
};

xla::Error* call(Handler handler, xla::Frame* frame) {
  if (frame->extensions != nullptr && frame->extensions->type == xla::metadata_extension)
    return handler(frame);
  const partita::Stream stream = stream_of_thread();
  xla::Runtime runtime = *frame->runtime;
  runtime.stream = &say_stream;
  runtime.device = &say_device;
  runtime.internal = nullptr;  // none of its streams is CUDA's
  xla::Frame seen = *frame;
  seen.runtime = &runtime;
  StandIns memory(seen);
  static std::atomic<int> calls = 0;
  if (++calls % 4 == 0) partita::testing::delay_fake_stream(stream, std::chrono::microseconds(500));
  memory.bring();
  xla::Error* const error = handler(&seen);
  if (error == nullptr) memory.take_back();
  std::promise<void> done;
  partita::testing::put_into_fake_stream(stream, [&] { done.set_value(); });
  done.get_future().wait();
  return error;
}

// A handler is a function and nothing else: so there is one of ours for each of theirs.
constexpr std::size_t most = 32;
std::array<Handler, most> handlers;

template <std::size_t number>
xla::Error* numbered(xla::Frame* frame) noexcept {
  return call(handlers.at(number), frame);
}

template <std::size_t... numbers>
constexpr std::array<Handler, most> all_numbered(std::index_sequence<numbers...> /*all*/) {
  return {&numbered<numbers>...};
}

}  // namespace

/// From now on; -1: XLA does not say it.
extern "C" PARTITA_API void partita_set_fake_xla_device(int device) {
  device_of_calls = device;
}

/// A handler for the CPU that calls this one for devices; null: there are too many.
extern "C" PARTITA_API void* partita_fake_xla_handler(void* handler) {
  static std::mutex mutex;
  static std::size_t used = 0;
  constexpr auto ours = all_numbered(std::make_index_sequence<most>());
  const std::lock_guard lock(mutex);
  if (used == most) return nullptr;
  handlers.at(used) = reinterpret_cast<Handler>(handler);
  return reinterpret_cast<void*>(ours.at(used++));
}
