// Where in a program a call stands. Does what std::source_location does, which clang below 16 lacks.
#pragma once

namespace partita {

/// A value; points to text that lives as long as the program.
struct SourcePlace {
  const char* file = "";      ///< as the compiler was given it
  const char* function = "";  ///< by its name
  int number = 0;             ///< of the line

  /// As a default argument: the place of the call.
  static constexpr SourcePlace current(const char* file = __builtin_FILE(),
                                       const char* function = __builtin_FUNCTION(),
                                       int number = __builtin_LINE()) {
    return {file, function, number};
  }

  /// With the names of std::source_location.
  constexpr const char* file_name() const { return file; }
  constexpr const char* function_name() const { return function; }
  constexpr int line() const { return number; }
};

}  // namespace partita
