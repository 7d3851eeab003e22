// A file descriptor that owns itself, and whole reads and writes at an offset.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_descriptor.hpp"

namespace partita::io {

/// Throws FileError: an empty path, or one with a zero byte, behind which the system does not look.
void require_path(const std::string& path);

/// Every failure is a FileError that names the file and the system's reason.
class File {
 public:
  static File open_to_read(const std::string& path);  ///< does not wait for a writer of a pipe
  /// Must exist. Does not wait for a reader of a pipe: without one it is a FileError.
  static File open_to_write(const std::string& path);
  static std::optional<File> try_open_to_write(const std::string& path);      ///< empty: does not exist
  static File create(const std::string& path, mode_t permissions = anybody);  ///< must not exist

  int descriptor() const { return descriptor_.get(); }
  struct stat status() const;
  std::int64_t size() const;
  /// Reads exactly so many bytes; "truncated" where the file ends before.
  void read(std::int64_t offset, void* data, std::int64_t bytes) const;
  void write(std::int64_t offset, const void* data, std::int64_t bytes) const;
  /// Writes where the last `append` ended; pipes have no other way.
  void append(const void* data, std::int64_t bytes) const;
  /// Reserves the space, so that a full disk is known before anything is written. A device has no space.
  void reserve(std::int64_t bytes) const;
  /// Flushes to the disk and closes; errors that the system held back appear here.
  void close();

 private:
  File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  static constexpr mode_t anybody = 0666;  ///< whom the process's mask lets
  std::string path_;
  FileDescriptor descriptor_;
};

}  // namespace partita::io
