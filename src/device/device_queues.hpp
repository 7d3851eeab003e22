// The streams of one context on its device.
#pragma once

#include <memory>
#include <partita/stream.hpp>

namespace partita::devices {

/// A point that a stream comes past.
class TimedEvent {
 public:
  virtual ~TimedEvent() = default;
  /// When that was, in seconds of the host's steady clock. Only once the stream has come past.
  virtual double seconds() const = 0;
};

/// A point in a stream for hosts and other streams to look at; it can be put anew. To put it is for the
/// thread that drives the context, all else for any.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  /// Behind what `stream` has been given until here.
  virtual void record(Stream stream) = 0;
  /// The stream has come past it.
  virtual bool reached() = 0;
  /// What `stream` is given from here on waits for it.
  virtual void hold(Stream stream) = 0;
};

/// Is asked before streams are given launches.
class LaunchGate {
 public:
  virtual ~LaunchGate() = default;
  virtual void launching(Stream stream, int launches) = 0;
};

/// Streams are made when they are asked for first: a context that puts nothing into them has none. Nothing
/// here breaks off a capture of streams, by whomever, but what is given to the captured stream itself.
class DeviceQueues {
 public:
  virtual ~DeviceQueues() = default;

  virtual Stream stream() = 0;  ///< the context's own
  virtual bool has_stream() const = 0;
  /// Side streams 0 to lanes() - 1, for concurrent copies. Streams 0 to 2 always exist: messages are sent
  /// from 0 and received into 1, and 2 is for signals. Work on 0 and 2 has priority over work that has not
  /// begun, so that links are busy while a device computes.
  virtual int lanes() const = 0;
  virtual Stream lane(int number) = 0;
  /// What `after` is given from here on waits for what `before` was given until here.
  void order(Stream before, Stream after) {
    if (!order_) order_ = event();
    launching(before);
    launching(after);
    order_->record(before);
    order_->hold(after);
  }
  virtual std::unique_ptr<DeviceEvent> event() = 0;
  /// Whatever gives `stream` launches (kernels, copies, marks of events, waits for them) calls this first,
  /// with at least their number. While a gate is open it may block and throw: the driver's queue of a stream
  /// holds about a thousand.
  void launching(Stream stream, int launches = 1) {
    if (gate_ != nullptr) gate_->launching(stream, launches);
  }
  /// From here on; null: none.
  void set_gate(LaunchGate* gate) { gate_ = gate; }
  /// Whether the context's own stream has completed all its work. Returns false while it is captured.
  virtual bool idle() = 0;

  /// Whether `stream` is being captured: its work is then added to a graph that the caller may launch any
  /// number of times.
  virtual bool captures(Stream stream) { return (void)stream, false; }
  /// Of a stream that is captured: expires with the graph and all that was made of it, when none of them runs
  /// any more. In any thread.
  virtual std::weak_ptr<const void> graph_of(Stream stream) {
    return (void)stream, std::weak_ptr<const void>();
  }

  /// Compares the device's clock with the host's, for the moments that follow. May take some tenths of a
  /// millisecond; waits for no stream.
  virtual void align_clock() {}
  /// When `stream` has done all that it has been given. Not while it is captured.
  virtual std::unique_ptr<TimedEvent> timed_event(Stream stream) = 0;

 private:
  std::unique_ptr<DeviceEvent> order_;
  LaunchGate* gate_ = nullptr;
};

}  // namespace partita::devices
