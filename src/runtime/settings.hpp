// The table of settings: one row for each environment variable that the library reads. The environment wins
// over the options, so that a program need not be changed to be run another way.
#pragma once

#include <partita/context.hpp>
#include <span>
#include <string>
#include <string_view>

namespace partita::runtime {

struct Setting {
  const char* variable;
  std::string_view option;  ///< of ContextOptions; empty: the process's, read by who needs it
  std::string_view values;  ///< "known: a, b" or "it must be ..."
  std::string_view purpose;
  bool alike = false;  ///< all ranks must have the same
  /// Whether the text is a value, which then stands in the options; null: the process's.
  bool (*read)(std::string_view text, ContextOptions& options) = nullptr;
  /// The value in the options, as `read` takes it.
  std::string (*show)(const ContextOptions& options) = nullptr;
  std::string_view usual = "";  ///< of the process's
};

std::span<const Setting> settings();

/// The machine by whose figures a context chooses: what the options name, else what is usual for the device.
std::string machine_of(const ContextOptions& options);

/// 'PARTITA_THREADS is "many"; it must be a whole number, 0 or more'
std::string refusal_of(const Setting& setting, std::string_view text);

/// `options` with the environment's settings of a context in them: read once, when the
/// context is made. Throws ArgumentError for a bad value, of the options too: it names the variable or the
/// option. Local.
ContextOptions with_environment(ContextOptions options);

}  // namespace partita::runtime
