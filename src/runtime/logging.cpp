#include "runtime/logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace partita {

spdlog::level::level_enum log_level() {
  using Level = spdlog::level::level_enum;
  constexpr std::array<std::pair<std::string_view, Level>, 6> levels{{{"trace", Level::trace},
                                                                      {"debug", Level::debug},
                                                                      {"info", Level::info},
                                                                      {"warn", Level::warn},
                                                                      {"error", Level::err},
                                                                      {"off", Level::off}}};
  const char* const text = std::getenv("PARTITA_LOG");
  if (text == nullptr || *text == '\0') return Level::warn;
  for (const auto& [name, level] : levels) {
    if (name == text) return level;
  }
  throw ArgumentError(
      fmt::format("PARTITA_LOG is \"{}\"; known: trace, debug, info, warn, error, off", text));
}

std::shared_ptr<spdlog::logger> make_logger(int rank, int size, spdlog::level::level_enum level) {
  auto logger =
      std::make_shared<spdlog::logger>("partita", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(fmt::format("%H:%M:%S.%e partita %l rank {}/{}: %v", rank, size));
  logger->set_level(level);
  logger->flush_on(spdlog::level::warn);
  return logger;
}

}  // namespace partita
