// How a file is written: whole or not at all, next to links and devices, with the permissions that it had.
#include "io/output_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "support/test.hpp"

namespace {
std::atomic<int> directories_synchronized{0};
}  // namespace

// In the place of the system's: a rename is lost with the power unless its directory is synchronized.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) ++directories_synchronized;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace partita::testing {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public ::testing::Test {
 public:
  OutputFiles() {
    std::string pattern = (fs::temp_directory_path() / "partita-output-XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) directory_ = made;
  }
  ~OutputFiles() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

 protected:
  std::string in(const std::string& name) const { return directory_ + "/" + name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static struct stat status(const std::string& path) {
    struct stat result {};
    EXPECT_EQ(::lstat(path.c_str(), &result), 0) << path;
    return result;
  }
  static unsigned permissions(const std::string& path) { return status(path).st_mode & 07777U; }
  /// A device of our own; false where this process may not make or open one.
  static bool make_device(const std::string& path, unsigned minor) {
    constexpr unsigned memory_devices = 1;
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(memory_devices, minor)) != 0) return false;
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }
  static std::string refusal(const std::string& path) {
    return caught<FileError>([&] { write_file(path, "new"); });
  }

  static constexpr unsigned null_device = 3, full_device = 7;
  std::string directory_;
};

TEST_F(OutputFiles, ANewFileIsWhatTheMaskLetsItBe) {
  const int descriptor = ::open(in("like").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  ::close(descriptor);
  write_file(in("new"), std::string("a\0b", 3));
  EXPECT_EQ(content(in("new")), std::string("a\0b", 3));
  EXPECT_EQ(permissions(in("new")), permissions(in("like")));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(OutputFiles, PermissionsStay) {
  for (const unsigned mode : {0600U, 0640U, 0755U, 0666U}) {
    std::ofstream(in("old")) << "an old and longer text";
    ASSERT_EQ(::chmod(in("old").c_str(), mode), 0);
    write_file(in("old"), "new");
    EXPECT_EQ(content(in("old")), "new");
    EXPECT_EQ(permissions(in("old")), mode);
  }
}

TEST_F(OutputFiles, NobodyElseCanOpenWhatIsNotFinished) {
  std::ofstream(in("old")) << "old";
  ASSERT_EQ(::chmod(in("old").c_str(), 0600), 0);
  const io::OutputFile output(in("old"));
  EXPECT_EQ(permissions(output.written()), 0600U);
}

TEST_F(OutputFiles, TheOwnerStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t somebody = 65534, group = 65533;
  std::ofstream(in("old")) << "old";
  ASSERT_EQ(::chown(in("old").c_str(), somebody, group), 0);
  ASSERT_EQ(::chmod(in("old").c_str(), 0750), 0);
  write_file(in("old"), "new");
  EXPECT_EQ(status(in("old")).st_uid, somebody);
  EXPECT_EQ(status(in("old")).st_gid, group);
  EXPECT_EQ(permissions(in("old")), 0750U);
}

TEST_F(OutputFiles, LinksStayAndTheirTargetsAreWritten) {
  fs::create_directory(in("there"));
  std::ofstream(in("there/file")) << "old";
  fs::create_symlink("there/file", in("relative"));
  fs::create_symlink(in("relative"), in("link of a link"));
  fs::create_symlink("there/missing", in("dangling"));
  write_file(in("link of a link"), "through two");
  write_file(in("dangling"), "through one");
  EXPECT_EQ(content(in("there/file")), "through two");
  EXPECT_EQ(content(in("there/missing")), "through one");
  for (const char* link : {"relative", "link of a link", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(in(link))) << link;
  }
  EXPECT_EQ(entries(), 4U);
  fs::create_symlink("loop", in("loop"));
  EXPECT_TRUE(contains(refusal(in("loop")), "loop: cannot open")) << refusal(in("loop"));
}

TEST_F(OutputFiles, ADeviceIsWrittenThrough) {
  if (!make_device(in("null"), null_device)) GTEST_SKIP() << "no devices can be made here";
  fs::create_symlink("null", in("link"));
  write_file(in("null"), "gone");
  write_file(in("link"), "gone");
  EXPECT_TRUE(S_ISCHR(status(in("null")).st_mode));
  EXPECT_TRUE(fs::is_symlink(in("link")));
  ASSERT_TRUE(make_device(in("full"), full_device));
  EXPECT_TRUE(contains(refusal(in("full")), "No space left")) << refusal(in("full"));
  EXPECT_TRUE(S_ISCHR(status(in("full")).st_mode));
  EXPECT_EQ(entries(), 3U);
}

TEST_F(OutputFiles, APipeIsWrittenThroughWhereSomebodyReadsIt) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(contains(refusal(in("pipe")), "without a reader")) << refusal(in("pipe"));
  const int reader = ::open(in("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ::fcntl(reader, F_SETFL, 0);
  const std::string text(300000, 'x');  // more than a pipe holds
  std::string received;
  std::thread reading([&] {
    std::array<char, 4096> piece{};
    while (received.size() < text.size()) {
      const ssize_t got = ::read(reader, piece.data(), piece.size());
      if (got > 0) received.append(piece.data(), static_cast<std::size_t>(got));
    }
  });
  write_file(in("pipe"), text);
  reading.join();
  EXPECT_EQ(received, text);
  EXPECT_THROW(io::OutputFile(in("pipe")).require_positions(), FileError);
  ::close(reader);
  EXPECT_TRUE(S_ISFIFO(status(in("pipe")).st_mode));
}

// A reader that came first leaves when the last writer does: there must be one all the time.
TEST_F(OutputFiles, APipeHasAWriterUntilAllIsWritten) {
  ASSERT_EQ(::mkfifo(in("pipe").c_str(), 0600), 0);
  const int reader = ::open(in("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const io::OutputFile output(in("pipe"));
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), -1) << "0 is the end";
  EXPECT_EQ(errno, EAGAIN);
  ::close(reader);
}

TEST_F(OutputFiles, OthersAreRefusedAndStay) {
  fs::create_directory(in("directory"));
  EXPECT_TRUE(contains(refusal(in("directory")), "Is a directory")) << refusal(in("directory"));
  EXPECT_TRUE(fs::is_directory(in("directory")));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, in("socket").c_str(), sizeof(address.sun_path) - 1);
  const int bound = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_TRUE(contains(refusal(in("socket")), "a socket")) << refusal(in("socket"));
  EXPECT_TRUE(fs::is_socket(in("socket")));
  ::close(bound);
  EXPECT_TRUE(contains(refusal(in("no/folder")), "No such file"));
  EXPECT_TRUE(refusal(in("no/folder")).starts_with(in("no/folder:"))) << refusal(in("no/folder"));
  EXPECT_EQ(refusal(""), "no path is given");
  EXPECT_EQ(entries(), 2U);
}

/// Root for a while as a user whom permissions bind.
class AsSomebody {
 public:
  AsSomebody() : before_(::geteuid()) {
    if (before_ == 0 && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot become somebody else";
  }
  ~AsSomebody() {
    if (::seteuid(before_) != 0) ADD_FAILURE() << "cannot become root again";
  }
  AsSomebody(const AsSomebody&) = delete;
  AsSomebody& operator=(const AsSomebody&) = delete;

 private:
  uid_t before_;
};

TEST_F(OutputFiles, WhatMayNotBeWrittenIsNotReplaced) {
  std::ofstream(in("read only")) << "old";
  ASSERT_EQ(::chmod(in("read only").c_str(), 0444), 0);
  fs::create_directory(in("directory"));
  std::ofstream(in("directory/file")) << "old";
  ASSERT_EQ(::chmod(in("directory/file").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(in("directory").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  {
    const AsSomebody somebody;
    for (const char* file : {"read only", "directory/file", "directory/new"}) {
      const std::string text = refusal(in(file));
      EXPECT_TRUE(contains(text, "Permission denied")) << text;
    }
  }
  ASSERT_EQ(::chmod(in("directory").c_str(), 0755), 0);
  EXPECT_EQ(content(in("read only")), "old");
  EXPECT_EQ(content(in("directory/file")), "old");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(OutputFiles, AFileOfSomebodyElseIsNotTakenOver) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::ofstream(in("theirs")) << "old";
  ASSERT_EQ(::chmod(in("theirs").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  {
    const AsSomebody somebody;
    EXPECT_TRUE(contains(refusal(in("theirs")), "same owner")) << refusal(in("theirs"));
  }
  EXPECT_EQ(content(in("theirs")), "old");
  EXPECT_EQ(status(in("theirs")).st_uid, 0U);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(OutputFiles, TheDirectoryIsSynchronized) {
  const int before = directories_synchronized;
  write_file(in("file"), "text");
  EXPECT_EQ(directories_synchronized, before + 1);
}

TEST_F(OutputFiles, WithoutCommitNothingIsLeft) {
  std::ofstream(in("old")) << "old";
  {
    const io::OutputFile output(in("old"));
    const io::OutputFile other(in("new"));
    EXPECT_EQ(entries(), 3U);
  }
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(content(in("old")), "old");
}

}  // namespace
}  // namespace partita::testing
