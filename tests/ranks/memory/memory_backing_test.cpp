// The memory behind the symmetric heap: huge pages, and nothing left behind.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_descriptor.hpp"
#include "memory/page.hpp"
#include "memory/reservation.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// Bytes that the mapping around `address` has in huge pages, in this process's page tables.
std::int64_t huge_bytes_around(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  std::int64_t result = 0;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t first = 0, end = 0;
    char dash = 0;
    std::istringstream words(line);
    if (words >> std::hex >> first >> dash >> end && dash == '-') inside = first <= wanted && wanted < end;
    const bool counts = line.starts_with("ShmemPmdMapped:") || line.starts_with("FilePmdMapped:") ||
                        line.starts_with("AnonHugePages:");
    if (inside && counts) result += 1024 * std::stoll(line.substr(line.find(':') + 1));
  }
  return result;
}

/// Whether the kernel makes huge pages of a memory file here and now.
bool kernel_collapses() {
  const FileDescriptor file(memfd_create("partita-test", MFD_CLOEXEC));
  if (ftruncate(file.get(), huge_page_bytes) != 0) return false;
  const memory::Reservation range(huge_page_bytes);
  const auto size = static_cast<std::size_t>(huge_page_bytes);
  void* const mapped =
      mmap(range.data(), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  std::memset(mapped, 1, size);
  return madvise(mapped, size, 25 /* MADV_COLLAPSE */) == 0;
}

RANK_TEST(NodeMemory, LargeBlocksHaveHugePagesHereAndAtThePeers) {
  const std::int64_t bytes = 32 * mebibyte;
  if (ranks().kind == GroupKind::mpi && !kernel_collapses()) {
    GTEST_SKIP() << "this kernel gives no huge pages to memory files";
  }
  const SymmetricMemory memory = SymmetricMemory::allocate(context, bytes);
  if (ranks().kind == GroupKind::threads && huge_bytes_around(memory.data()) == 0) {
    GTEST_SKIP() << "this kernel gives no huge pages to ordinary memory";
  }
  EXPECT_GE(huge_bytes_around(memory.data()), bytes / 2);
  context.barrier();
  for (int rank = 0; rank < context.size(); ++rank) {
    const auto* const theirs = static_cast<const volatile char*>(memory.peer(rank));
    if (theirs == nullptr) continue;
    for (std::int64_t i = 0; i < bytes; i += 4096) static_cast<void>(theirs[i]);
    EXPECT_GE(huge_bytes_around(memory.peer(rank)), bytes / 2) << "of rank " << rank;
  }
  context.barrier();
}

std::vector<std::string> mapped_files(const std::string& part) {
  std::vector<std::string> result;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    if (line.find(part) != line.npos) result.push_back(line);
  }
  return result;
}

/// Files with names could stay behind when a process is killed; ours have none.
RANK_TEST(NodeMemory, UsesNoNamedFiles) {
  const SymmetricMemory memory = SymmetricMemory::allocate(context, 100);
  const std::string where = "partita";
  for (const std::string& line : mapped_files("/dev/shm")) {
    EXPECT_EQ(line.find(where), line.npos) << line;
  }
  if (ranks().kind == GroupKind::mpi) {
    for (const std::string& line : mapped_files("partita-segment")) {
      EXPECT_NE(line.find("/memfd:partita-segment (deleted)"), line.npos) << line;
    }
    EXPECT_FALSE(mapped_files("/memfd:partita-segment").empty());
  }
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

RANK_TEST(NodeMemory, ContextsLeaveNothingOpen) {
  const std::vector<int> all = all_ranks(context);
  context.barrier();
  const auto files = open_files();
  const auto mapped = mapped_files("/memfd:partita").size();
  constexpr int made = 10;
  for (int i = 0; i < made; ++i) {
    const Context other = context.subgroup(all);
    const SymmetricMemory memory = SymmetricMemory::allocate(other, 3 * mebibyte);
    other.barrier();
  }
  // Ranks that are threads share the table of files, so the others may be at work still.
  // An MPI library opens further connections when it likes: what counts is a file for each context.
  if (ranks().kind == GroupKind::mpi) {
    EXPECT_LT(open_files(), files + made);
    EXPECT_EQ(mapped_files("/memfd:partita").size(), mapped);
  }
}

/// Moves the calling thread into a separate network namespace, as a container would have, and back.
class OwnNetwork {
 public:
  explicit OwnNetwork(bool here) {
    if (!here) return;
    home_ = FileDescriptor(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    moved_ = home_ && unshare(CLONE_NEWNET) == 0;
  }
  ~OwnNetwork() {
    if (moved_) setns(home_.get(), CLONE_NEWNET);
  }
  OwnNetwork(const OwnNetwork&) = delete;
  OwnNetwork& operator=(const OwnNetwork&) = delete;
  bool moved() const { return moved_; }

 private:
  FileDescriptor home_;
  bool moved_ = false;
};

RANK_TEST(NodeMemory, RanksInSeveralContainersAreTold) {
  if (ranks().kind != GroupKind::mpi || context.topology().node_count() == context.size())
    GTEST_SKIP() << "needs processes that share a node";
  const std::vector<int> all = all_ranks(context);
  const OwnNetwork network(context.rank() == 1);
  const auto moved = runtime::exchange(*context.state(), "who moved", network.moved() ? "yes" : "no");
  if (moved[1] == "no") {
    GTEST_SKIP() << "not allowed to make a network namespace";
  }
  const std::string text = same_error<Error>(context, [&] { context.subgroup(all); });
  for (const char* part : {"Connection refused", "container", "PARTITA_RANKS_PER_NODE=1"}) {
    EXPECT_NE(text.find(part), text.npos) << text;
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
