// A file descriptor that owns itself, and whole reads and writes at an offset.
#pragma once

#include <cstdint>
#include <string>

namespace partita {

/// Every failure is a FileError that names the file and the system's reason.
class File {
 public:
  static File open_to_read(const std::string& path);
  static File open_to_write(const std::string& path);  ///< must exist
  static File create(const std::string& path);         ///< must not exist
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;

  std::int64_t size() const;
  /// Reads exactly so many bytes; "truncated" where the file ends before.
  void read(std::int64_t offset, void* data, std::int64_t bytes) const;
  void write(std::int64_t offset, const void* data, std::int64_t bytes) const;
  /// Reserves the space, so that a full disk is known before anything is written.
  void reserve(std::int64_t bytes) const;
  /// Flushes to the disk and closes; errors that the system held back appear here.
  void close();

 private:
  File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  static File open(const std::string& path, int flags);
  std::string path_;
  int descriptor_;
};

}  // namespace partita
