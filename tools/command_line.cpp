#include "tools/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "tools/words.hpp"

namespace partita::tools {
namespace {

std::vector<std::string>& words() {
  static std::vector<std::string> all;
  return all;
}

std::vector<std::int64_t> parse_list(const std::string& text, const std::string& separators,
                                     std::string_view what) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t number = -1;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0) break;
    numbers.push_back(number);
    if (rest == end) return numbers;
    if (separators.find(*rest) == std::string::npos) break;
    at = rest + 1;
  }
  throw UsageError(fmt::format("\"{}\" is no {}", text, what));
}

}  // namespace

void remember_command_line(int count, char** values) {
  words().assign(values + 1, values + std::max(count, 1));
}

const std::vector<std::string>& command_line() {
  return words();
}

std::vector<std::string> arguments_before_dashes() {
  return {words().begin(), std::find(words().begin(), words().end(), "--")};
}

std::vector<std::string> arguments_after_dashes() {
  const auto dashes = std::find(words().begin(), words().end(), "--");
  return {dashes == words().end() ? dashes : dashes + 1, words().end()};
}

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Shape parse_shape(const std::string& text) {
  if (text == "scalar") return {};
  const auto numbers = parse_list(text, "x,", "shape: extents separated by x, as in 8192x8192");
  return Shape(numbers);
}

std::vector<int> parse_axes(const std::string& text) {
  if (text.empty()) return {};
  std::vector<int> axes;
  for (const std::int64_t axis : parse_list(text, ",", "order of axes, as in 2,1,0")) {
    if (axis >= max_dimensions) throw UsageError(fmt::format("there is no axis {}", axis));
    axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

Distribution file_distribution(const FileHeader& header) {
  if (header.shape.empty()) return Replicated{};
  return Slab(header.order == Order::row_major ? 0 : header.shape.size() - 1);
}

int ranks_named_by(const Distribution& distribution) {
  if (const auto* rule = distribution.as<BlockCyclic>()) return rule->grid.rank_bound();
  if (const auto* rule = distribution.as<BlockNonCyclic>()) return rule->grid.rank_bound();
  if (const auto* rule = distribution.as<Box>()) return static_cast<int>(rule->boxes.size());
  if (const auto* rule = distribution.as<Partitioned>()) return rule->mesh.rank_bound();
  return 0;
}

std::string describe_bytes(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.95 && unit + 1 < units.size()) bytes /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string describe_seconds(double seconds) {
  if (seconds >= 99.95) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);
  return seconds >= 0.9995e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                              : fmt::format("{:.3g} us", seconds * 1e6);
}

std::string describe_rate(double bytes, double seconds) {
  return fmt::format("{:.2f} GB/s", seconds > 0 ? bytes / seconds / 1e9 : 0.0);
}

std::string count_of(int number, const std::string& noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace partita::tools
