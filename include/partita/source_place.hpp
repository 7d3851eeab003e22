// Source locations of calls: a replacement for std::source_location, which clang below 16 lacks.
#pragma once

namespace partita {

/// A source location. A value; its texts exist as long as the program.
struct SourcePlace {
  const char* file = "";      ///< path as passed to the compiler
  const char* function = "";  ///< name of the function
  int number = 0;             ///< line number

  /// As a default argument: the location of the call.
  static constexpr SourcePlace current(const char* file = __builtin_FILE(),
                                       const char* function = __builtin_FUNCTION(),
                                       int number = __builtin_LINE()) {
    return {file, function, number};
  }

  /// The names of std::source_location.
  constexpr const char* file_name() const { return file; }
  constexpr const char* function_name() const { return function; }
  constexpr int line() const { return number; }
};

}  // namespace partita
