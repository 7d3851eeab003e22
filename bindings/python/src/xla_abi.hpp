// How XLA calls foreign functions: the part of the C interface of XLA's FFI (xla/ffi/api/c_api.h, which comes
// with jaxlib) that is used here. It is stable: fields are only added, behind those that there are, and every
// struct begins with its size. So neither building the package nor a wheel needs JAX, and a wheel serves
// every jaxlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::python::xla {

struct Error;
struct Execution;

inline constexpr int metadata_extension = 1, execute_stage = 3;

struct Extension {
  std::size_t size;
  int type;
  Extension* next;
};

struct Version {
  std::size_t size;
  Extension* extensions;
  int major, minor;
};

/// The oldest one that has all that is declared here.
inline constexpr int version_major = 0, version_minor = 1;

struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

/// Of absl::Status.
enum class Code : std::uint8_t {
  invalid_argument = 3,
  deadline_exceeded = 4,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
  internal = 13,
  unavailable = 14
};

struct ErrorText {
  std::size_t size;
  Extension* extensions;
  const char* message;
  int code;
};

struct ErrorEnd {
  std::size_t size;
  Extension* extensions;
  Error* error;
};

struct StreamQuestion {
  std::size_t size;
  Extension* extensions;
  Execution* execution;
  void* stream;
};

/// On which of the process's devices the call runs.
struct DeviceQuestion {
  std::size_t size;
  Extension* extensions;
  Execution* execution;
  std::int32_t device;
};

/// What XLA offers. `device` only where the size says so.
struct Runtime {
  std::size_t size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*make_error)(ErrorText*);
  void (*error_message)(void*);
  void (*destroy_error)(ErrorEnd*);
  Error* (*register_handler)(void*);
  Error* (*stream)(StreamQuestion*);
  void* unused[12];  // register a type ... the number of an execution
  Error* (*device)(DeviceQuestion*);
};

struct Buffer {
  std::size_t size;
  Extension* extensions;
  int dtype;
  void* data;
  std::int64_t dimensions;
  std::int64_t* extents;
};

/// Arguments or results: all of them buffers, dense and row-major.
struct Buffers {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  int* types;
  Buffer** buffers;
};

struct Text {
  const char* data;
  std::size_t length;
};

struct Number {
  int dtype;
  void* value;
};

struct Numbers {
  int dtype;
  std::size_t count;
  void* values;
};

inline constexpr int numbers_attribute = 1, number_attribute = 3, text_attribute = 4, dtype_s64 = 5;

struct Attributes {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  int* types;
  Text** names;
  void** values;
};

struct Frame {
  std::size_t size;
  Extension* extensions;
  const Runtime* runtime;
  Execution* execution;
  int stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

}  // namespace partita::python::xla
