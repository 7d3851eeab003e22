#include "transformer/text.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace transformer {
namespace pt = partita;

std::string read_text(const pt::Context& context, const std::string& path) {
  std::string text;
  pt::rank_zero(context, [&] {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (!file) throw pt::FileError(path + " could not be read");
    text = bytes.str();
    if (text.empty()) throw pt::ArgumentError(path + " is empty");
  });
  auto size = static_cast<std::int64_t>(text.size());
  pt::broadcast(context, pt::view(size));
  text.resize(static_cast<std::size_t>(size));
  pt::broadcast(context, pt::View::dense(text.data(), pt::Dtype::u8, {size}));
  return text;
}

std::string usual_text() {
  static constexpr std::array paths{"data/devils-dictionary.txt", "/usr/share/common-licenses/GPL-3"};
  for (const char* const path : paths) {
    if (std::filesystem::exists(path)) return path;
  }
  throw pt::FileError(fmt::format("there is neither {} nor {}: name a text", paths[0], paths[1]));
}

Batch batch_of(std::string_view text, const Settings& settings, std::int64_t step) {
  const auto length = static_cast<std::size_t>(settings.sequence) + 1;
  if (text.size() < length) {
    throw pt::ArgumentError(
        fmt::format("transformer: a text of {} bytes is shorter than a sequence of {} and one", text.size(),
                    settings.sequence));
  }
  std::mt19937_64 random(settings.seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(step));
  Batch batch;
  for (std::int64_t i = 0; i < settings.batch; ++i) {
    const std::string_view piece = text.substr(random() % (text.size() - length + 1), length);
    batch.insert(batch.end(), piece.begin(), piece.end());
  }
  return batch;
}

}  // namespace transformer
