// A program that uses MPI itself in addition to Partita, on the same communicator.
//
//   beside_mpi between    its messages and collectives are under way while Partita's are, in one thread
//   beside_mpi threads    another thread of each rank calls MPI all the while
//   beside_mpi finalize   MPI ends before its context, whose calls then throw
//
// Exits with 0 where everybody's data is right.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <partita/mpi.hpp>
#include <partita/partita.hpp>
#include <thread>
#include <vector>

namespace {

constexpr int rounds = 60;
constexpr int elements = 20000;

std::atomic<int> wrong{0};

void expect(bool right, const char* what) {
  if (right) return;
  if (wrong++ < 5) std::fprintf(stderr, "beside_mpi: %s is wrong\n", what);
}

/// The program's own: a sum of all ranks, and a ring with wild cards, begun now and looked at later.
class OwnWork {
 public:
  OwnWork(MPI_Comm communicator, int round) : communicator_(communicator), round_(round) {
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &size_);
    mine_.assign(elements, rank_ + round);
    sum_.assign(elements, -1);
    came_.assign(elements, -1);
    MPI_Irecv(came_.data(), elements, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &requests_[0]);
    MPI_Iallreduce(mine_.data(), sum_.data(), elements, MPI_INT, MPI_SUM, communicator_, &requests_[1]);
    MPI_Isend(mine_.data(), elements, MPI_INT, (rank_ + 1) % size_, round, communicator_, &requests_[2]);
  }
  void finish() {
    MPI_Status statuses[3];
    MPI_Waitall(3, requests_, statuses);
    expect(statuses[0].MPI_TAG == round_, "the tag of the program's own message");
    const int all = size_ * (size_ - 1) / 2 + size_ * round_;
    const int before = (rank_ - 1 + size_) % size_ + round_;
    for (int i = 0; i < elements; ++i) {
      expect(sum_[static_cast<std::size_t>(i)] == all, "the program's own sum");
      expect(came_[static_cast<std::size_t>(i)] == before, "the program's own message");
    }
  }

 private:
  MPI_Comm communicator_;
  int round_;
  int rank_ = 0, size_ = 1;
  std::vector<int> mine_, sum_, came_;
  MPI_Request requests_[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// Partita's: two redistributions, a product, a sum, and a message round the ring.
class Ours {
 public:
  explicit Ours(const partita::Context& context)
      : context_(context), rows_(partita::empty(context, {97, 61}, partita::Slab(0), partita::Dtype::f64)) {
    partita::fill_random(rows_, 7);
  }
  void run(int round) {
    using namespace partita;
    const Array columns = redistribute(rows_, Slab(1));
    const Array again = redistribute(columns, Slab(0));
    expect(compare(rows_, again).equal, "a redistribution");
    const int rank = context_.rank(), size = context_.size();
    std::vector<std::int64_t> mine(3000, rank + round), sum(3000), came(3000);
    const auto view = [](std::vector<std::int64_t>& v) { return View::dense(v.data(), Dtype::i64, {3000}); };
    all_reduce(context_, view(mine), view(sum));
    send_receive(context_, view(mine), (rank + 1) % size, view(came), (rank - 1 + size) % size);
    expect(sum.back() == size * (size - 1) / 2 + std::int64_t{size} * round, "a sum");
    expect(came.back() == (rank - 1 + size) % size + round, "a message");
  }

 private:
  const partita::Context& context_;
  partita::Array rows_;
};

void run_between(const partita::Context& context, MPI_Comm communicator) {
  Ours ours(context);
  for (int round = 0; round < rounds; ++round) {
    OwnWork own(communicator, round);
    ours.run(round);
    own.finish();
    if (round % 8 == 0) MPI_Barrier(communicator);
  }
}

void run_threads(const partita::Context& context, MPI_Comm communicator) {
  std::thread other([&] {
    for (int round = 0; round < rounds; ++round) OwnWork(communicator, round).finish();
  });
  Ours ours(context);
  for (int round = 0; round < rounds; ++round) ours.run(round);
  other.join();
}

/// MPI would end the process at a call after MPI_Finalize.
int run_finalized() {
  partita::Context context = partita::initialize({.communicator = partita::communicator(MPI_COMM_WORLD)});
  context.barrier();
  MPI_Finalize();
  for (int round = 0; round < 2; ++round) {
    try {
      context.barrier();
      expect(false, "a barrier after MPI_Finalize");
    } catch (const partita::Error& error) {
      expect(std::strstr(error.what(), "MPI_Finalize") != nullptr, error.what());
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = argc > 1 && std::strcmp(argv[1], "threads") == 0;
  int provided = MPI_THREAD_SINGLE;
  const int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::fprintf(stderr, "beside_mpi: this MPI has no such threads\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "finalize") == 0) return run_finalized();
  {
    partita::Context context = partita::initialize({.communicator = partita::communicator(MPI_COMM_WORLD)});
    threads ? run_threads(context, MPI_COMM_WORLD) : run_between(context, MPI_COMM_WORLD);
    context.close();
  }
  int all = 0;
  const int mine = wrong;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
