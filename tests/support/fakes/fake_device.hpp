// Devices without a device: their memory is host memory, their streams are threads. What runs on them is all
// of the library's code for devices but the calls of a vendor's runtime.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "device/accelerator.hpp"

namespace partita::testing {

/// Fewer than most runs have ranks: some share one.
inline constexpr int usual_fake_devices = 2;

/// From here on the process has so many fake devices.
void install_fake_devices(int count);

/// What a stream of a fake device is given from here on is late.
void delay_fake_stream(Stream stream, std::chrono::microseconds time);

/// What a stream of a fake device does in its turn.
void put_into_fake_stream(Stream stream, std::function<void()> task);

/// Each run of bytes that fake devices are given to copy from here on takes so much longer.
void delay_fake_copies(std::chrono::microseconds time);

/// How many streams of fake devices the process has made so far. Each is a thread.
int fake_queues_made();

/// How many launches have blocked so far, since their streams held as many as a driver's queue does. The host
/// is to wait before, where it keeps the deadline.
int fake_launches_blocked();

/// How many events this thread has put into streams of fake devices so far.
int fake_events_put();

/// Whether contexts made from here on find that they cannot map their peers' memory.
void refuse_fake_peers(bool refuse);

/// Whether contexts made from here on find that devices cannot read each other's ordinary memory, and the
/// memory that no device but its own can read from here on; null: there is none.
void refuse_fake_reads(bool refuse);
void refuse_fake_reads_of(const void* memory);

/// Whether fake devices know a library with a symmetric heap from here on.
void give_fake_nvshmem(bool give);

/// Whether contexts made from here on find a vendor's library of collectives, and whether it moves anything:
/// between ranks of one process (FakeDeviceGroup).
enum class FakeLibrary : std::uint8_t { none, moves_nothing, moves };
FakeLibrary give_fake_library(FakeLibrary library);  ///< what it was

/// The same as long as this lives.
class FakeLibraryGiven {
 public:
  explicit FakeLibraryGiven(FakeLibrary library) : before_(give_fake_library(library)) {}
  ~FakeLibraryGiven() { give_fake_library(before_); }
  FakeLibraryGiven(const FakeLibraryGiven&) = delete;
  FakeLibraryGiven& operator=(const FakeLibraryGiven&) = delete;

 private:
  FakeLibrary before_;
};

/// Whether fake devices say from here on that their memory is separate from host memory.
void fake_memory_is_separate(bool separate);

/// Whether fake devices compute from here on: they do.
void fake_devices_compute(bool compute);

/// What a stream was given while it was captured. Whoever holds it holds all that it uses.
struct FakeGraph {
  std::vector<std::function<void()>> tasks;
};

/// A stream of the caller's, on any fake device.
class FakeStream {
 public:
  FakeStream();
  ~FakeStream();
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;
  Stream stream() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// As of CUDA: from here on what `stream` is given is not done but becomes part of a graph; to ask how far
/// it has come, or to order others after it, is an error.
void begin_fake_capture(Stream stream);
std::shared_ptr<FakeGraph> end_fake_capture(Stream stream);
/// `graph` must have been captured from this stream.
void start_fake_graph(const FakeGraph& graph, Stream stream);

}  // namespace partita::testing
