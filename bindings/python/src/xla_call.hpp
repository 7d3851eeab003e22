// One call of a compiled program.
#pragma once

#include <cstdint>
#include <optional>
#include <partita/context.hpp>
#include <partita/fact.hpp>
#include <partita/stream.hpp>
#include <partita/view.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xla_abi.hpp"

namespace partita::python::xla {

/// What XLA passes: buffers as views, attributes by name. ArgumentError: it does not exist. Lasts as
/// long as the call.
class Call {
 public:
  Call(const Frame& frame, MemorySpace space) : frame_(frame), space_(space) {}

  View argument(std::int64_t index) const { return view(frame_.arguments, index); }
  View result(std::int64_t index) const;

  bool has(std::string_view name) const;  ///< such an attribute
  std::int64_t number(std::string_view name) const;
  std::span<const std::int64_t> numbers(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  /// All that the program says of the call: its attributes, of 64 bits and texts, the element types of its
  /// arguments and whose memory it is.
  std::string identity() const;

  MemorySpace space() const { return space_; }
  /// XLA's own, of what is in device memory.
  std::optional<Stream> stream() const;
  /// The index of the device on which the call runs, among the GPUs or the CPU devices of this process;
  /// nothing if neither CUDA nor XLA reports it.
  std::optional<int> device() const;
  /// What all ranks must have alike: the arguments' element types, their extents from dimension `first` on
  /// (none where that is `max_dimensions`), and the attributes but for `apart`.
  std::vector<Fact> facts(int first, std::span<const std::string_view> apart) const;

 private:
  View view(const Buffers& buffers, std::int64_t index) const;
  const void* attribute(std::string_view name, int type) const;

  const Frame& frame_;
  MemorySpace space_;
};

/// An exception as it is reported to XLA.
struct Refusal {
  Code code;
  std::string_view status;  // the code's name
  std::string text;         // the exception's name and text

  /// As JAX has it in its own exception.
  std::string as_raised() const { return std::string(status) + ": " + text; }
};

/// Of the exception that is being handled.
Refusal current_refusal();

using Body = void (*)(const Call&);

/// The answer to XLA, which asks what a handler is before it calls it.
Error* answered(Frame& frame, MemorySpace space, Body body) noexcept;

/// A function that XLA calls.
template <Body body, MemorySpace space>
Error* handler(Frame* frame) noexcept {
  return answered(*frame, space, body);
}

}  // namespace partita::python::xla
