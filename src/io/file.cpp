#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace partita::io {
namespace {

// Linux transfers at most this much in one call.
constexpr std::int64_t largest_transfer = std::int64_t{1} << 30;

[[noreturn]] void refuse(const std::string& path, const char* what, int error) {
  throw FileError(fmt::format("{}: {}: {}", path, what, std::strerror(error)));
}

/// Calls `transfer(data, bytes)` until all is done.
template <class Transfer>
void write_all(const std::string& path, const void* data, std::int64_t bytes, const Transfer& transfer) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = transfer(from, static_cast<std::size_t>(std::min(bytes, largest_transfer)));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) refuse(path, "cannot write", errno);
    from += put;
    bytes -= put;
  }
}

}  // namespace

void require_path(const std::string& path) {
  check<FileError>(!path.empty(), "no path is given");
  const std::size_t end = path.find('\0');
  check<FileError>(end == std::string::npos, "{}: the path contains a zero byte", path.substr(0, end));
}

File File::open_to_read(const std::string& path) {
  require_path(path);
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe's writer may not come
  if (descriptor < 0) refuse(path, "cannot open the file", errno);
  return {path, descriptor};
}

std::optional<File> File::try_open_to_write(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0 && errno == ENXIO) refuse(path, "a socket, or a pipe without a reader", errno);
  if (descriptor < 0) refuse(path, "cannot open the file", errno);
  File file(path, descriptor);
  if (::fcntl(descriptor, F_SETFL, 0) != 0) refuse(path, "cannot open the file", errno);  // writes wait
  return file;
}

File File::open_to_write(const std::string& path) {
  std::optional<File> file = try_open_to_write(path);
  if (!file) refuse(path, "cannot open the file", ENOENT);
  return *std::move(file);
}

File File::create(const std::string& path, mode_t permissions) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
  if (descriptor < 0) refuse(path, "cannot create the file", errno);
  return {path, descriptor};
}

struct stat File::status() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) refuse(path_, "cannot read the status", errno);
  return status;
}

std::int64_t File::size() const {
  const struct stat status = this->status();
  check<FileError>(S_ISREG(status.st_mode), "{}: not a regular file", path_);
  return status.st_size;
}

void File::read(std::int64_t offset, void* data, std::int64_t bytes) const {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes, largest_transfer));
    const ssize_t got = ::pread(descriptor_.get(), to, wanted, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, "cannot read", errno);
    check<FileError>(got > 0, "{}: the file is truncated: it ends at byte {}, {} more are needed", path_,
                     offset, bytes);
    to += got;
    offset += got;
    bytes -= got;
  }
}

void File::write(std::int64_t offset, const void* data, std::int64_t bytes) const {
  write_all(path_, data, bytes, [&](const char* from, std::size_t count) {
    const ssize_t put = ::pwrite(descriptor_.get(), from, count, offset);
    if (put > 0) offset += put;
    return put;
  });
}

void File::append(const void* data, std::int64_t bytes) const {
  write_all(path_, data, bytes,
            [&](const char* from, std::size_t count) { return ::write(descriptor_.get(), from, count); });
}

void File::reserve(std::int64_t bytes) const {
  if (bytes == 0) return;
  const int error = ::posix_fallocate(descriptor_.get(), 0, bytes);
  if (error == EINVAL || error == EOPNOTSUPP) return;  // a file system that cannot promise space
  if (error == ENODEV) return;                         // nor can a device
  if (error != 0) refuse(path_, "not enough space for the file", error);
}

void File::close() {
  if (::fsync(descriptor_.get()) != 0 && errno != EINVAL && errno != EROFS)
    refuse(path_, "cannot write to the disk", errno);
  if (::close(descriptor_.release()) != 0) refuse(path_, "cannot close the file", errno);
}

}  // namespace partita::io
