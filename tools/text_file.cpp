#include "tools/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <partita/error.hpp>

namespace partita::tools {

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw FileError(fmt::format("{} could not be written: {}", path, std::strerror(errno)));
}

}  // namespace partita::tools
