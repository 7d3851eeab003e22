#include "xla_call.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <partita/error.hpp>
#include <string>
#include <utility>

#include "huge_pages.hpp"
#include "xla_device.hpp"

namespace partita::python::xla {

namespace {

constexpr int token_of_xla = 17;  // a call's place in the order of calls, which is not an array

Dtype dtype_of_xla(int dtype) {
  switch (dtype) {
    case 1:
      return Dtype::boolean;
    case 2:
      return Dtype::i8;
    case 3:
      return Dtype::i16;
    case 4:
      return Dtype::i32;
    case dtype_s64:
      return Dtype::i64;
    case 6:
      return Dtype::u8;
    case 7:
      return Dtype::u16;
    case 8:
      return Dtype::u32;
    case 9:
      return Dtype::u64;
    case 10:
      return Dtype::f16;
    case 11:
      return Dtype::f32;
    case 12:
      return Dtype::f64;
    case 15:
      return Dtype::c64;
    case 16:
      return Dtype::bf16;
    case 18:
      return Dtype::c128;
    case 19:
      return Dtype::f8e5m2;
    case 20:
      return Dtype::f8e4m3;
    default:
      throw ArgumentError("XLA's element type " + std::to_string(dtype) + " is not supported");
  }
}

Error* refused(const Frame& frame) {
  const Refusal refusal = current_refusal();
  ErrorText text{sizeof(ErrorText), nullptr, refusal.text.c_str(), static_cast<int>(refusal.code)};
  return frame.runtime->make_error(&text);
}

Refusal invalid(std::string text) {
  return {Code::invalid_argument, "INVALID_ARGUMENT", std::move(text)};
}

void append_value(std::string& all, int type, const void* value) {
  if (type == text_attribute) {
    const auto& text = *static_cast<const Text*>(value);
    all.append(text.data, text.length);
  } else if (type == number_attribute) {
    all.append(std::to_string(*static_cast<const std::int64_t*>(static_cast<const Number*>(value)->value)));
  } else if (type == numbers_attribute) {
    const auto& numbers = *static_cast<const Numbers*>(value);
    const auto* const first = static_cast<const std::int64_t*>(numbers.values);
    for (std::size_t i = 0; i < numbers.count; ++i) all.append(std::to_string(first[i])).append(1, ',');
  }
}

/// "8x8", "*x8": of any number of rows.
std::string extents_text(const Buffer& buffer, int first) {
  std::string text;
  for (std::int64_t i = 0; i < buffer.dimensions; ++i)
    text.append(i == 0 ? "" : "x").append(i < first ? "*" : std::to_string(buffer.extents[i]));
  return text;
}

}  // namespace

Refusal current_refusal() {
  try {
    throw;
  } catch (const DisagreementError& error) {
    return invalid(std::string("DisagreementError: ") + error.what());
  } catch (const ArgumentError& error) {
    return invalid(std::string("ArgumentError: ") + error.what());
  } catch (const UnsupportedError& error) {
    return {Code::unimplemented, "UNIMPLEMENTED", std::string("UnsupportedError: ") + error.what()};
  } catch (const MemoryError& error) {
    return {Code::resource_exhausted, "RESOURCE_EXHAUSTED", std::string("MemoryError: ") + error.what()};
  } catch (const SingularError& error) {
    return invalid(std::string("SingularError: ") + error.what());
  } catch (const TimeoutError& error) {
    return {Code::deadline_exceeded, "DEADLINE_EXCEEDED", std::string("TimeoutError: ") + error.what()};
  } catch (const LostPeerError& error) {
    return {Code::unavailable, "UNAVAILABLE", std::string("LostPeerError: ") + error.what()};
  } catch (const FailedContextError& error) {
    return {Code::failed_precondition, "FAILED_PRECONDITION",
            std::string("FailedContextError: ") + error.what()};
  } catch (const std::exception& error) {
    return {Code::internal, "INTERNAL", error.what()};
  } catch (...) {
    return {Code::internal, "INTERNAL", "an exception of an unknown kind"};
  }
}

Error* answered(Frame& frame, MemorySpace space, Body body) noexcept {
  if (frame.extensions != nullptr && frame.extensions->type == metadata_extension) {
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame.extensions)->metadata;
    metadata.version = {sizeof(Version), nullptr, version_major, version_minor};
    metadata.traits = 0;  // no command buffers: XLA captures anew when it likes, each rank for itself
    return nullptr;
  }
  try {
    if (frame.stage != execute_stage)
      throw ArgumentError("XLA calls it in a stage where nothing is executed");
    body(Call(frame, space));
    return nullptr;
  } catch (...) {
    return refused(frame);
  }
}

View Call::view(const Buffers& buffers, std::int64_t index) const {
  if (index >= buffers.count) throw ArgumentError("XLA gives fewer buffers than are needed");
  const Buffer& buffer = *buffers.buffers[index];
  Shape shape;
  if (buffer.dimensions < max_dimensions) {
    for (std::int64_t i = 0; i < buffer.dimensions; ++i) shape.push_back(buffer.extents[i]);
  } else {  // parts stand along dimension 0; the others count as one
    shape = {buffer.extents[0], 1};
    for (std::int64_t i = 1; i < buffer.dimensions; ++i) shape[1] *= buffer.extents[i];
  }
  View view = View::dense(buffer.data, dtype_of_xla(buffer.dtype), shape);
  view.space = space_;
  return view;
}

View Call::result(std::int64_t index) const {
  const View found = view(frame_.results, index);
  if (space_ == MemorySpace::host)
    advise_huge_pages(found.data, volume(found.extents) * size_of(found.dtype));
  return found;
}

bool Call::has(std::string_view name) const {
  const Attributes& attributes = frame_.attributes;
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    if (std::string_view(attributes.names[i]->data, attributes.names[i]->length) == name) return true;
  }
  return false;
}

const void* Call::attribute(std::string_view name, int type) const {
  const Attributes& attributes = frame_.attributes;
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    const Text& found = *attributes.names[i];
    if (std::string_view(found.data, found.length) == name && attributes.types[i] == type)
      return attributes.values[i];
  }
  throw ArgumentError("XLA gives no attribute " + std::string(name));
}

std::int64_t Call::number(std::string_view name) const {
  const auto& found = *static_cast<const Number*>(attribute(name, number_attribute));
  if (found.dtype != dtype_s64) throw ArgumentError(std::string(name) + " is not of 64 bits");
  return *static_cast<const std::int64_t*>(found.value);
}

std::span<const std::int64_t> Call::numbers(std::string_view name) const {
  const auto& found = *static_cast<const Numbers*>(attribute(name, numbers_attribute));
  if (found.count == 0) return {};
  if (found.dtype != dtype_s64) throw ArgumentError(std::string(name) + " are not of 64 bits");
  return {static_cast<const std::int64_t*>(found.values), found.count};
}

std::string Call::identity() const {
  std::string all = space_ == MemorySpace::device ? "device" : "host";
  for (std::int64_t i = 0; i < frame_.arguments.count; ++i)
    all.append(1, ' ').append(std::to_string(frame_.arguments.buffers[i]->dtype));
  const Attributes& attributes = frame_.attributes;
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    all.append(1, '|').append(attributes.names[i]->data, attributes.names[i]->length).append(1, '=');
    append_value(all, attributes.types[i], attributes.values[i]);
  }
  return all;
}

std::vector<Fact> Call::facts(int first, std::span<const std::string_view> apart) const {
  std::vector<Fact> facts;
  std::vector<const Buffer*> arguments(frame_.arguments.buffers,
                                       frame_.arguments.buffers + frame_.arguments.count);
  std::erase_if(arguments, [](const Buffer* buffer) { return buffer->dtype == token_of_xla; });
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string which = arguments.size() == 1 ? "" : " of argument " + std::to_string(i);
    if (first < max_dimensions) facts.push_back({"shape" + which, extents_text(*arguments[i], first)});
    facts.push_back({"dtype" + which, std::string(name(dtype_of_xla(arguments[i]->dtype)))});
  }
  const Attributes& attributes = frame_.attributes;
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    const std::string_view called(attributes.names[i]->data, attributes.names[i]->length);
    if (called == "group" || std::ranges::find(apart, called) != apart.end()) continue;
    facts.push_back({std::string(called), {}});
    append_value(facts.back().value, attributes.types[i], attributes.values[i]);
  }
  return facts;
}

std::string_view Call::text(std::string_view name) const {
  const auto& found = *static_cast<const Text*>(attribute(name, text_attribute));
  return {found.data, found.length};
}

std::optional<Stream> Call::stream() const {
  if (space_ == MemorySpace::host) return {};
  StreamQuestion question{sizeof(StreamQuestion), nullptr, frame_.execution, nullptr};
  if (Error* const error = frame_.runtime->stream(&question); error != nullptr) {
    ErrorEnd end{sizeof(ErrorEnd), nullptr, error};
    frame_.runtime->destroy_error(&end);
    throw UnsupportedError("XLA returned no stream");
  }
  return Stream(question.stream);
}

std::optional<int> Call::device() const {
  if (space_ == MemorySpace::device &&
      frame_.runtime->internal != nullptr) {  // what tests bring in XLA's place has none, nor streams of CUDA
    if (const auto found = device_of_cuda_stream(stream().value_or(Stream{}).handle)) return found;
  }
  if (frame_.runtime->size < offsetof(Runtime, device) + sizeof(frame_.runtime->device)) return {};
  DeviceQuestion question{sizeof(DeviceQuestion), nullptr, frame_.execution, -1};
  if (Error* const error = frame_.runtime->device(&question); error != nullptr) {
    ErrorEnd end{sizeof(ErrorEnd), nullptr, error};
    frame_.runtime->destroy_error(&end);
    return {};
  }
  return question.device < 0 ? std::nullopt : std::optional<int>(question.device);
}

}  // namespace partita::python::xla
