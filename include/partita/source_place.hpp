// Where in a program a call stands. Does what SourcePlace does, which clang below 16 lacks.
#pragma once

namespace partita {

/// A value; points to text that lives as long as the program.
struct SourcePlace {
  const char* file = "";
  const char* function = "";
  int number = 0;

  /// As a default argument: the place of the call.
  static constexpr SourcePlace current(const char* file = __builtin_FILE(),
                                       const char* function = __builtin_FUNCTION(),
                                       int number = __builtin_LINE()) {
    return {file, function, number};
  }

  constexpr const char* file_name() const { return file; }
  constexpr const char* function_name() const { return function; }
  constexpr int line() const { return number; }
};

}  // namespace partita
