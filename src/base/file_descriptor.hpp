// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace partita {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) ::close(release());
  }
  /// It is the caller's to close.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace partita
