#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "memory/descriptor_mailbox.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

FileDescriptor memory_file(std::string_view text) {
  FileDescriptor file(memfd_create("partita-test", MFD_CLOEXEC));
  EXPECT_EQ(pwrite(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return file;
}

std::string text_of(const FileDescriptor& file) {
  std::string text(100, '\0');
  text.resize(static_cast<std::size_t>(pread(file.get(), text.data(), text.size(), 0)));
  return text;
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// Connects to the mailbox as a stranger who read its name in /proc/net/unix, and writes `text`.
FileDescriptor stranger(const std::string& address, std::string_view text) {
  const std::string name = address.substr(16);
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), place.sun_path + 1);
  FileDescriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  EXPECT_EQ(connect(connection.get(), reinterpret_cast<const sockaddr*>(&place), bytes), 0);
  if (!text.empty()) {
    EXPECT_EQ(send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  return connection;
}

TEST(DescriptorMailbox, ManyDeliveriesWaitForTheirReader) {
  memory::DescriptorMailbox mailbox(8);
  for (int sender = 0; sender < 7; ++sender) {
    const FileDescriptor first = memory_file("first of " + std::to_string(sender));
    const FileDescriptor second = memory_file("second");
    memory::DescriptorMailbox::deliver(mailbox.address(), sender, {first.get(), second.get()});
  }
  const auto deliveries = mailbox.collect();
  ASSERT_EQ(deliveries.size(), 7U);
  for (const auto& [sender, files] : deliveries) {
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(text_of(files[0]), "first of " + std::to_string(sender));
    EXPECT_EQ(text_of(files[1]), "second");
    EXPECT_TRUE(fcntl(files[0].get(), F_GETFD) & FD_CLOEXEC) << "children must not inherit it";
  }
  EXPECT_TRUE(mailbox.collect().empty());
}

TEST(DescriptorMailbox, BetweenProcesses) {
  memory::DescriptorMailbox mailbox(1);
  const pid_t child = fork();
  if (child == 0) {
    const FileDescriptor file = memory_file("from the child");
    memory::DescriptorMailbox::deliver(mailbox.address(), 3, {file.get()});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto deliveries = mailbox.collect();
  ASSERT_TRUE(deliveries.contains(3));
  EXPECT_EQ(text_of(deliveries.at(3).at(0)), "from the child");
}

TEST(DescriptorMailbox, StrangersAreTurnedAway) {
  memory::DescriptorMailbox mailbox(8);
  const FileDescriptor silent = stranger(mailbox.address(), "");
  const FileDescriptor talking = stranger(mailbox.address(), std::string(24, 'x'));
  const FileDescriptor hasty = stranger(mailbox.address(), "short");
  std::string forged = mailbox.address();
  forged[3] = static_cast<char>(forged[3] ^ 1);
  const FileDescriptor file = memory_file("x");
  memory::DescriptorMailbox::deliver(forged, 1, {file.get()});
  memory::DescriptorMailbox::deliver(mailbox.address(), 2, {file.get()});
  const auto deliveries = mailbox.collect();
  EXPECT_EQ(deliveries.size(), 1U);
  EXPECT_TRUE(deliveries.contains(2));
}

TEST(DescriptorMailbox, AnotherUserIsTurnedAway) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  memory::DescriptorMailbox mailbox(2);
  const pid_t child = fork();
  if (child == 0) {
    const FileDescriptor file = memory_file("x");
    if (seteuid(65534) != 0) _exit(2);
    try {
      memory::DescriptorMailbox::deliver(mailbox.address(), 1, {file.get()});
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1) << "the sender sees whose mailbox it is";
  EXPECT_TRUE(mailbox.collect().empty());
}

TEST(DescriptorMailbox, NothingIsLeftOpen) {
  const auto before = open_files();
  {
    memory::DescriptorMailbox mailbox(4);
    const FileDescriptor file = memory_file("x");
    memory::DescriptorMailbox::deliver(mailbox.address(), 0, {file.get()});
    memory::DescriptorMailbox::deliver(mailbox.address(), 1, {file.get()});
    EXPECT_EQ(mailbox.collect().size(), 2U);
    memory::DescriptorMailbox::deliver(mailbox.address(), 2, {file.get()});  // never read
  }
  EXPECT_EQ(open_files(), before);
}

bool in_list_of_sockets(const std::string& name) {
  std::ifstream file("/proc/net/unix");
  for (std::string line; std::getline(file, line);) {
    if (line.find(name) != line.npos) return true;
  }
  return false;
}

TEST(DescriptorMailbox, NothingIsLeftOfAKilledProcess) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor reader(ends[0]), writer(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const memory::DescriptorMailbox mailbox(1);
    const std::string address = mailbox.address();
    if (write(writer.get(), address.data(), address.size()) < 0) _exit(1);
    pause();
  }
  std::string address(200, '\0');
  address.resize(static_cast<std::size_t>(read(reader.get(), address.data(), address.size())));
  const std::string name = address.substr(16);
  EXPECT_TRUE(in_list_of_sockets(name));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(in_list_of_sockets(name));
}

TEST(DescriptorMailbox, RefusedWhenNobodyListens) {
  std::string address;
  {
    const memory::DescriptorMailbox mailbox(1);
    address = mailbox.address();
  }
  const FileDescriptor file = memory_file("x");
  EXPECT_EQ(text_of_error<Error>([&] { memory::DescriptorMailbox::deliver(address, 0, {file.get()}); }),
            "cannot be reached over a local socket: Connection refused");
}

TEST(DescriptorMailbox, NamesAreNotGuessable) {
  const memory::DescriptorMailbox a(1), b(1);
  EXPECT_NE(a.address(), b.address());
  EXPECT_GT(a.address().size(), 16 + 32U);
}

}  // namespace
}  // namespace partita
