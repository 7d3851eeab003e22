// The library's log, on stderr.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <partita/context.hpp>

namespace partita::runtime {

/// A logger "partita" that writes to stderr, a line a message with the rank in it. Not registered anywhere:
/// each context has its own. Thread-safe. Give it finished texts: its own formatting takes seconds to compile
/// in each file that uses it.
std::shared_ptr<spdlog::logger> make_logger(int rank, int size, LogLevel level);

}  // namespace partita::runtime
