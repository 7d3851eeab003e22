// Small text files.
#pragma once

#include <string>

namespace partita::tools {

/// Throws FileError that names the file.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace partita::tools
