#include "support/fakes/fake_nvshmem.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace partita::testing {
namespace {

struct World {
  int rank = 0;
  int ranks = 0;  // 0: not started
  std::string name;
  std::size_t bytes = 0;
  std::vector<char*> memories;
};

World& world() {
  static World only;
  return only;
}

std::atomic<bool> hangs{false};
std::atomic<bool> given_up{false};

/// As long as a collective call of a test may take.
bool comes(const std::function<bool()>& ready) {
  using namespace std::chrono_literals;
  for (int turn = 0; turn < 20000 && !given_up; ++turn) {
    if (ready()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::string name_of(int rank) {
  return fmt::format("/{}-{}", world().name, rank);
}

/// Behind the memory that is asked for: how many have mapped it.
constexpr std::size_t tail = 4096;

char* map(int file, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes + tail, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

char* create(std::size_t bytes) {
  const int file = shm_open(name_of(world().rank).c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes + tail)) != 0) return nullptr;
  return map(file, bytes);
}

char* open(int rank, std::size_t bytes) {
  int file = -1;
  const bool there = comes([&] {
    struct stat found {};
    if (file < 0) file = shm_open(name_of(rank).c_str(), O_RDWR, 0600);
    return file >= 0 && fstat(file, &found) == 0 && found.st_size == static_cast<off_t>(bytes + tail);
  });
  return there ? map(file, bytes) : nullptr;
}

std::atomic_ref<int> readers(char* memory) {
  return std::atomic_ref(*reinterpret_cast<int*>(memory + world().bytes));
}

bool map_all(char* mine, std::size_t bytes) {
  World& all = world();
  for (int rank = 0; rank < all.ranks; ++rank) {
    char* const memory = rank == all.rank ? mine : open(rank, bytes);
    if (memory == nullptr) return false;
    all.memories[static_cast<std::size_t>(rank)] = memory;
    ++readers(memory);
  }
  return comes([&] { return readers(mine) == all.ranks; });
}

void* allocate(std::size_t bytes) {
  World& all = world();
  all.bytes = bytes;
  all.memories.assign(static_cast<std::size_t>(all.ranks), nullptr);
  char* const mine = create(bytes);
  if (mine == nullptr) return nullptr;
  const bool all_have = map_all(mine, bytes);
  shm_unlink(name_of(all.rank).c_str());
  return all_have ? mine : nullptr;
}

int get_unique_id(memory::NvshmemId* id) {
  std::random_device device;  // numbers of processes come again, and what was killed may have left its memory
  const std::string name = fmt::format("partita-fake-nvshmem-{:08x}{:08x}", device(), device());
  std::memcpy(id->bytes, name.c_str(), name.size() + 1);
  return id->version == (1 << 16) + 128 ? 0 : 1;
}

int set_id(int rank, int ranks, const memory::NvshmemId* id, memory::NvshmemAttributes* attributes) {
  attributes->arguments.of_id.id = const_cast<memory::NvshmemId*>(id);
  attributes->arguments.of_id.rank = rank;
  attributes->arguments.of_id.ranks = ranks;
  return 0;
}

int init(unsigned flags, memory::NvshmemAttributes* attributes) {
  const memory::NvshmemAttributes::Arguments::OfId& of_id = attributes->arguments.of_id;
  if (flags != 8 || attributes->version != (1 << 16) + 144 || of_id.id == nullptr) return 1;
  world().rank = of_id.rank;
  world().ranks = of_id.ranks;
  world().name = of_id.id->bytes;
  if (of_id.rank + 1 < of_id.ranks) return 0;
  while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return given_up ? 1 : 0;
}

void* address_of(const void* mine, int pe) {
  const World& all = world();
  const std::ptrdiff_t offset =
      static_cast<const char*>(mine) - all.memories[static_cast<std::size_t>(all.rank)];
  return all.memories[static_cast<std::size_t>(pe)] + offset;
}

memory::NvshmemLibrary make() {
  memory::NvshmemLibrary library;
  library.version = 30000;
  library.path = "fake";
  library.init_status = [] { return world().ranks == 0 ? 0 : 2; };
  library.get_unique_id = get_unique_id;
  library.set_id = set_id;
  library.init = init;
  library.my_pe = [] { return world().rank; };
  library.pe_count = [] { return world().ranks; };
  library.allocate = allocate;
  library.address_of = address_of;
  return library;
}

}  // namespace

const memory::NvshmemLibrary& fake_nvshmem() {
  static const memory::NvshmemLibrary library = make();
  return library;
}

void let_fake_nvshmem_hang(bool hang) {
  given_up = !hang;
  hangs = hang;
  if (hang) world() = World{};
}

}  // namespace partita::testing
