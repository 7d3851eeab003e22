// Files of a test: a directory that all ranks share, and the errors that they must all get.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ranks/rank_test.hpp"
#include "runtime/checks/agree.hpp"

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

/// Expects a FileError with this word in it, the same text on every rank.
template <class Body>
void expect_file_error(Context& context, const std::string& word, Body&& body) {
  std::string text = "no error";
  try {
    body();
  } catch (const FileError& error) {
    text = error.what();
  }
  EXPECT_NE(text.find(word), std::string::npos) << text;
  for (const std::string& other : runtime::exchange(*context.state(), "test", text)) EXPECT_EQ(other, text);
  EXPECT_FALSE(context.failed());
}

}  // namespace partita::testing
