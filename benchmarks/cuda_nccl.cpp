#include "benchmarks/cuda_nccl.hpp"

#include <dlfcn.h>

#include <partita/partita.hpp>
#include <stdexcept>
#include <string>

namespace partita::benchmarks {
namespace {

// What is needed of <nccl.h>.
struct UniqueId {
  char bytes[128];
};
using Communicator = void*;
constexpr int bytes_type = 0;   // ncclInt8
constexpr int floats_type = 7;  // ncclFloat32
constexpr int halves_type = 6, doubles_type = 8, bfloats_type = 9;
constexpr int sum = 0;  // ncclSum

template <class Function>
Function symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(std::string("NCCL has no ") + name);
  return reinterpret_cast<Function>(found);
}

void require(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + ": NCCL error " + std::to_string(result));
}

struct Library {
  void* handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  int (*unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Communicator*, int, UniqueId, int) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int, int, Communicator, void*) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Communicator, void*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, Communicator, void*) = nullptr;
  int (*broadcast)(const void*, void*, std::size_t, int, int, Communicator, void*) = nullptr;

  Library() {
    if (handle == nullptr) return;
    unique_id = symbol<decltype(unique_id)>(handle, "ncclGetUniqueId");
    init_rank = symbol<decltype(init_rank)>(handle, "ncclCommInitRank");
    destroy = symbol<decltype(destroy)>(handle, "ncclCommDestroy");
    group_start = symbol<decltype(group_start)>(handle, "ncclGroupStart");
    group_end = symbol<decltype(group_end)>(handle, "ncclGroupEnd");
    send = symbol<decltype(send)>(handle, "ncclSend");
    receive = symbol<decltype(receive)>(handle, "ncclRecv");
    all_reduce = symbol<decltype(all_reduce)>(handle, "ncclAllReduce");
    reduce_scatter = symbol<decltype(reduce_scatter)>(handle, "ncclReduceScatter");
    all_gather = symbol<decltype(all_gather)>(handle, "ncclAllGather");
    broadcast = symbol<decltype(broadcast)>(handle, "ncclBroadcast");
  }
};

const Library& library() {
  static const Library opened;
  return opened;
}

int type_of(Dtype dtype) {
  if (size_of(dtype) == 1) return bytes_type;  // which are only moved
  if (dtype == Dtype::f64) return doubles_type;
  if (dtype == Dtype::f32) return floats_type;
  return dtype == Dtype::bf16 ? bfloats_type : halves_type;
}

class OpenedNccl final : public Nccl {
 public:
  OpenedNccl(const UniqueId& id, int rank, int ranks) : rank_(rank), ranks_(ranks) {
    require(library().init_rank(&communicator_, ranks, id, rank), "ncclCommInitRank");
  }
  ~OpenedNccl() override { library().destroy(communicator_); }
  OpenedNccl(const OpenedNccl&) = delete;
  OpenedNccl& operator=(const OpenedNccl&) = delete;

  void all_to_all(const void* from, void* to, std::int64_t bytes, void* stream) override {
    std::vector<NcclPiece> pieces;
    for (int peer = 0; peer < ranks_; ++peer) pieces.push_back({peer * bytes, bytes});
    all_to_all_v(from, pieces, to, pieces, stream);
  }

  void all_to_all_v(const void* from, const std::vector<NcclPiece>& sent, void* to,
                    const std::vector<NcclPiece>& received, void* stream) override {
    require(library().group_start(), "ncclGroupStart");
    for (int step = 0; step < ranks_; ++step) {
      const int peer = (rank_ + step) % ranks_;
      const NcclPiece &there = sent.at(static_cast<std::size_t>(peer)),
                      &here = received.at(static_cast<std::size_t>(peer));
      require(library().send(static_cast<const char*>(from) + there.offset,
                             static_cast<std::size_t>(there.bytes), bytes_type, peer, communicator_, stream),
              "ncclSend");
      require(library().receive(static_cast<char*>(to) + here.offset, static_cast<std::size_t>(here.bytes),
                                bytes_type, peer, communicator_, stream),
              "ncclRecv");
    }
    require(library().group_end(), "ncclGroupEnd");
  }

  void run(Collective which, const void* from, void* to, std::int64_t count, void* stream,
           Dtype dtype) override {
    const int type = type_of(dtype);
    const auto whole = static_cast<std::size_t>(count), part = whole / static_cast<std::size_t>(ranks_);
    switch (which) {
      case Collective::all_reduce:
        return require(library().all_reduce(from, to, whole, type, sum, communicator_, stream),
                       "ncclAllReduce");
      case Collective::reduce_scatter:
        return require(library().reduce_scatter(from, to, part, type, sum, communicator_, stream),
                       "ncclReduceScatter");
      case Collective::all_gather:
        return require(library().all_gather(from, to, part, type, communicator_, stream), "ncclAllGather");
      case Collective::all_to_all:
        return all_to_all(from, to,
                          static_cast<std::int64_t>(part * static_cast<std::size_t>(size_of(dtype))), stream);
      case Collective::broadcast:
        return require(library().broadcast(to, to, whole, type, 0, communicator_, stream), "ncclBroadcast");
    }
  }

 private:
  int rank_;
  int ranks_;
  Communicator communicator_ = nullptr;
};

}  // namespace

std::unique_ptr<Nccl> make_nccl(const Context& world) {
  UniqueId id{};
  const bool here = library().handle != nullptr;
  if (here && world.rank() == 0) require(library().unique_id(&id), "ncclGetUniqueId");
  const Shape shape{static_cast<std::int64_t>(sizeof(id))};
  const Array everywhere =
      scatter(world, View::dense(id.bytes, Dtype::i8, shape), shape, Distribution(Replicated()));
  const char* const received = static_cast<const char*>(everywhere.local().data);
  std::copy(received, received + sizeof(id), id.bytes);
  if (!here) return nullptr;
  return std::make_unique<OpenedNccl>(id, world.rank(), world.size());
}

}  // namespace partita::benchmarks
