// The library's log: stderr, level by PARTITA_LOG.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

namespace partita {

/// The level that PARTITA_LOG names: trace, debug, info, warn, error or off; unset or empty: warn. Throws
/// ArgumentError.
spdlog::level::level_enum log_level();

/// A logger "partita" that writes to stderr, a line a message with the rank in it. Not registered anywhere:
/// each context has its own. Thread-safe. Give it finished texts: its own formatting takes seconds to compile
/// in each file that uses it.
std::shared_ptr<spdlog::logger> make_logger(int rank, int size, spdlog::level::level_enum level);

}  // namespace partita
