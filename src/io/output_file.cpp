#include "io/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <partita/io.hpp>
#include <random>
#include <utility>

#include "base/check.hpp"

namespace partita {
namespace io {
namespace {

namespace fs = std::filesystem;

/// The reason is `errno`: a separate function, since arguments may be evaluated before a system call.
[[noreturn]] void refuse_with_reason(const std::string& path, const char* what) {
  throw FileError(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

/// Also where the last link leads to nothing yet.
std::string behind_links(fs::path path) {
  constexpr int most_links = 40;  // as Linux follows them
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path.string();
}

/// Beside the target, so that the rename stays on one file system. Of a long name it has the beginning: file
/// systems take names of a length at most.
std::string temporary_name(const std::string& path) {
  const fs::path target(path);
  std::random_device random;
  const std::string end = fmt::format(".{}-{:08x}{:08x}.partial", ::getpid(), random(), random());
  const std::string name = target.filename().string().substr(0, NAME_MAX - 1 - end.size());
  return (target.parent_path() / fmt::format(".{}{}", name, end)).string();
}

/// Names the requested file, since the temporary one is unknown to the user.
File create_temporary(const std::string& path, const std::string& name, bool replaces) {
  constexpr mode_t by_owner_alone = 0600;  // until it has the permissions of the old file
  try {
    return replaces ? File::create(name, by_owner_alone) : File::create(name);
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: could not be written: {}", path, error.what()));
  }
}

/// The new file gets what the old one has. The owner first: a change of it takes bits away.
void take_over(const File& from, const File& to, const std::string& path) {
  const struct stat old = from.status();
  const struct stat fresh = to.status();
  constexpr mode_t permissions = 07777;
  const bool owned = old.st_uid == fresh.st_uid && old.st_gid == fresh.st_gid;
  if (!owned && ::fchown(to.descriptor(), old.st_uid, old.st_gid) != 0)
    refuse_with_reason(path, "cannot be replaced by a file of the same owner");
  if (::fchmod(to.descriptor(), old.st_mode & permissions) != 0)
    refuse_with_reason(path, "cannot keep the permissions");
}

/// A rename is on the disk when its directory is. One that may not be read cannot be asked.
void synchronize_directory(const fs::path& directory) {
  const std::string path = directory.empty() ? "." : directory.string();
  if (::access(path.c_str(), R_OK) == 0) File::open_to_read(path).close();
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(behind_links(path_)) {
  require_path(path_);
  std::optional<File> old = File::try_open_to_write(path_);
  const mode_t mode = old ? old->status().st_mode : S_IFREG;
  check<FileError>(!S_ISBLK(mode), "{}: a block device; name a file", path_);
  if (!S_ISREG(mode)) {
    device_.emplace(*std::move(old));
    return;
  }
  const std::string name = temporary_name(target_);
  const File fresh = create_temporary(path_, name, old.has_value());
  try {
    if (old) take_over(*old, fresh, path_);
  } catch (...) {
    ::unlink(name.c_str());
    throw;
  }
  temporary_ = name;
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::require_positions() const {
  check<FileError>(regular() || ::lseek(device_->descriptor(), 0, SEEK_CUR) >= 0,
                   "{}: a pipe or a terminal cannot be written by several ranks; name a file", path_);
}

void OutputFile::commit() {
  if (!regular()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    refuse_with_reason(path_, "cannot rename the finished file");
  temporary_.clear();
  synchronize_directory(fs::path(target_).parent_path());
}

}  // namespace io

void write_file(const std::string& path, std::string_view bytes) {
  io::OutputFile output(path);
  io::File file = io::File::open_to_write(output.written());
  file.append(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  file.close();
  output.commit();
}

}  // namespace partita
