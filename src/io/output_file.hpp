// A file that is about to be written: written completely or not at all, and a device is never replaced by
// one.
#pragma once

#include <optional>
#include <string>

#include "io/file.hpp"

namespace partita::io {

/// Opens `path` for one rank. For a regular file, or none, a temporary file is made in the same folder, which
/// `commit` renames: links are followed and kept, as are owner and permissions of an old file. A character
/// device or a pipe is written directly. Other targets, and files without write permission, are a FileError.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();  ///< without `commit`, removes the temporary file
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// What is to be written: the temporary file, or the device itself.
  const std::string& written() const { return regular() ? temporary_ : path_; }
  bool regular() const { return !device_; }
  /// Throws FileError where what is written has no positions, as a pipe has none.
  void require_positions() const;
  /// Puts the finished file in its place, and has both on the disk.
  void commit();

 private:
  std::string path_;            // as it was given
  std::string target_;          // behind all links
  std::string temporary_;       // in the same folder; empty: nothing to remove
  std::optional<File> device_;  // or pipe, whose reader would see the end if it were closed in between
};

}  // namespace partita::io
