#include "runtime/logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <array>

namespace partita::runtime {

namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  static constexpr std::array levels{spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                     spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return levels.at(static_cast<std::size_t>(level));
}

}  // namespace

std::shared_ptr<spdlog::logger> make_logger(int rank, int size, LogLevel level) {
  auto logger =
      std::make_shared<spdlog::logger>("partita", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(fmt::format("%H:%M:%S.%e partita %l rank {}/{}: %v", rank, size));
  logger->set_level(level_of(level));
  logger->flush_on(spdlog::level::warn);
  return logger;
}

}  // namespace partita::runtime
