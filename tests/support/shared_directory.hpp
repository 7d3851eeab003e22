// Files of a test: a directory that all ranks share.
#pragma once

#include <unistd.h>

#include "support/on_ranks.hpp"

namespace partita::testing {

namespace fs = std::filesystem;

/// A directory that all ranks share, removed by rank 0 at the end.
class SharedDirectory {
 public:
  explicit SharedDirectory(Context& context) : context_(context) {
    std::string made;
    if (context.rank() == 0) {
      std::string pattern = (fs::temp_directory_path() / "partita-io-XXXXXX").string();
      if (const char* name = ::mkdtemp(pattern.data())) made = name;
    }
    path_ = runtime::exchange(*context.state(), "test", made).front();
  }
  ~SharedDirectory() {
    try {
      context_.barrier();
    } catch (const Error&) {
    }
    std::error_code ignored;
    if (context_.rank() == 0) fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  Context& context_;
  std::string path_;
};

inline void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace partita::testing
