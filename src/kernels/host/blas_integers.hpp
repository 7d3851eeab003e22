// Builds of OpenBLAS differ in the width of their integers and in the names of their functions. Partita calls
// all of them as those with 32-bit integers.
#pragma once

#include <cstdint>
#include <string>

namespace partita::kernels {

/// How a build of OpenBLAS names its functions: with a prefix, and a suffix if its integers have 64 bits.
struct BlasNaming {
  const char* prefix = "";
  bool wide = false;

  std::string of_fortran(const std::string& name) const { return prefix + name + (wide ? "_64_" : "_"); }
  std::string of_c(const std::string& name) const { return prefix + name + (wide ? "64_" : ""); }
};

/// An argument as the wide function takes it. Sizes (const int*) are copied; results (int*) are copied back.
/// All others are passed as they are: memory for many integers is std::int64_t* in both cases.
template <class Argument>
struct WideArgument {
  using Type = Argument;
  Argument argument;
  Argument passed() const { return argument; }
};
template <>
struct WideArgument<const int*> {
  using Type = const std::int64_t*;
  explicit WideArgument(const int* size) : value(*size) {}
  const std::int64_t* passed() const { return &value; }
  std::int64_t value;
};
template <>
struct WideArgument<int*> {
  using Type = std::int64_t*;
  explicit WideArgument(int* result) : value(*result), to(result) {}
  WideArgument(const WideArgument&) = delete;
  WideArgument& operator=(const WideArgument&) = delete;
  ~WideArgument() { *to = static_cast<int>(value); }
  std::int64_t* passed() { return &value; }
  std::int64_t value;
  int* to;
};

/// A function with 64-bit integers that is called with 32-bit ones. Each `member` has its own.
template <auto member, class Function>
struct NarrowCall;
template <auto member, class... Arguments>
struct NarrowCall<member, void (*)(Arguments...)> {
  using Wide = void (*)(typename WideArgument<Arguments>::Type...);
  static inline Wide function = nullptr;
  static void call(Arguments... arguments) { function(WideArgument<Arguments>{arguments}.passed()...); }
};

/// `symbol`: the function, with 64-bit integers if `wide`; null: there is none, and the result is null.
template <auto member, class Function>
Function with_narrow_integers(void* symbol, bool wide) {
  if (!wide || symbol == nullptr) return reinterpret_cast<Function>(symbol);
  using Call = NarrowCall<member, Function>;
  Call::function = reinterpret_cast<typename Call::Wide>(symbol);
  return &Call::call;
}

}  // namespace partita::kernels
