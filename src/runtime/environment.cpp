#include "runtime/environment.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/check.hpp"

namespace partita {

namespace {

std::string_view setting(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void read_count(const char* name, int& count) {
  const std::string_view text = setting(name);
  if (text.empty()) return;
  const std::optional<int> number = parse<int>(text);
  check(number && *number >= 0, "{} is \"{:.40}\"; it must be a whole number, 0 or more", name, text);
  count = *number;
}

void read_deadline(std::chrono::milliseconds& deadline) {
  const std::string_view text = setting("PARTITA_DEADLINE");
  if (text.empty()) return;
  const std::optional<double> seconds = parse<double>(text);
  // A year is as good as for ever, and keeps the arithmetic from overflowing.
  const bool good = seconds && *seconds >= 0.001 && *seconds <= 3.2e7;
  check(good, "PARTITA_DEADLINE is \"{:.40}\"; it must be a number of seconds, from 0.001 to 3.2e7", text);
  deadline = std::chrono::milliseconds(std::llround(*seconds * 1000));
}

}  // namespace

ContextOptions with_environment(ContextOptions options) {
  check(options.deadline.count() > 0, "the deadline is {} ms; it must be more than 0",
        options.deadline.count());
  check(options.threads >= 0, "threads is {}; it must be 0 or more", options.threads);
  check(options.ranks_per_node >= 0, "ranks_per_node is {}; it must be 0 or more", options.ranks_per_node);
  check(options.plan_cache_size >= 1, "plan_cache_size is {}; it must be 1 or more", options.plan_cache_size);
  read_deadline(options.deadline);
  read_count("PARTITA_THREADS", options.threads);
  read_count("PARTITA_RANKS_PER_NODE", options.ranks_per_node);
  if (const std::string_view machine = setting("PARTITA_MACHINE"); !machine.empty())
    options.machine = machine;
  return options;
}

}  // namespace partita
