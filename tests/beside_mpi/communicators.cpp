// Contexts on communicators that the program makes: parts of the world, freed before and after their contexts
// end, several in turn, in addition to a context of the whole. Exits with 0 if all ranks' data is right.
#include <mpi.h>

#include <cstdio>
#include <optional>
#include <partita/mpi.hpp>
#include <partita/partita.hpp>
#include <vector>

namespace {

int wrong = 0;

void expect(bool right, const char* what) {
  if (right) return;
  if (wrong++ < 5) std::fprintf(stderr, "communicators: %s is wrong\n", what);
}

partita::Context context_of(MPI_Comm communicator) {
  return partita::initialize({.communicator = partita::communicator(communicator)});
}

/// A sum, a redistribution with its memory, and a message round the ring.
void use(const partita::Context& context, int salt) {
  using namespace partita;
  std::vector<std::int64_t> mine(5000, context.rank() + salt), sum(5000), came(5000);
  const auto view = [](std::vector<std::int64_t>& v) { return View::dense(v.data(), Dtype::i64, {5000}); };
  all_reduce(context, view(mine), view(sum));
  const int size = context.size(), rank = context.rank();
  expect(sum.back() == size * (size - 1) / 2 + std::int64_t{size} * salt, "a sum");
  send_receive(context, view(mine), (rank + 1) % size, view(came), (rank - 1 + size) % size);
  expect(came.back() == (rank - 1 + size) % size + salt, "a message");
  Array rows = empty(context, {31, 17}, Slab(0), Dtype::f64);
  fill_random(rows, static_cast<std::uint64_t>(salt));
  expect(compare(rows, redistribute(rows, Slab(1))).equal, "a redistribution");
}

MPI_Comm part_of_world(int colour, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, colour, key, &part);
  return part;
}

/// The communicator is freed before the context's first use, after its last, or after its end.
void parts_in_turn(const partita::Context& world, int turn) {
  const int rank = world.rank();
  MPI_Comm part = part_of_world((rank + turn) % 2, turn % 3 == 0 ? -rank : rank);
  std::optional<partita::Context> context = context_of(part);
  const int when_freed = turn % 3;
  if (when_freed == 0) MPI_Comm_free(&part);
  use(*context, turn);
  use(world, 100 + turn);
  int size = 0;
  if (when_freed > 0) MPI_Comm_size(part, &size);
  if (when_freed > 0) expect(size == context->size(), "the size of a part");
  if (when_freed == 1) MPI_Comm_free(&part);
  if (turn % 2 == 0) context->close();
  context.reset();
  if (when_freed == 2) {
    int total = 0;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, part);  // the program's own, as ever
    expect(total >= rank, "the program's own sum");
    MPI_Comm_free(&part);
  }
}

/// Only some of the ranks have a context; two of one communicator at once.
void some_alone(const partita::Context& world) {
  MPI_Comm part = part_of_world(world.rank() == 0 ? MPI_UNDEFINED : 1, 0);
  if (part != MPI_COMM_NULL) {
    partita::Context first = context_of(part), second = context_of(part);
    MPI_Comm_free(&part);
    use(second, 7);
    use(first, 8);
    second.close();
    use(first, 9);
    first.close();
  }
  use(world, 10);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    partita::Context world = context_of(MPI_COMM_WORLD);
    for (int turn = 0; turn < 12; ++turn) parts_in_turn(world, turn);
    some_alone(world);
    world.close();
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
