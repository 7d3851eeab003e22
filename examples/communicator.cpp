// Contexts of a program's own MPI communicators: one for each row of ranks, and one for all ranks.
#include <mpi.h>

#include <cstdio>
#include <partita/mpi.hpp>
#include <partita/partita.hpp>

namespace pt = partita;

namespace {

pt::Context context_of(MPI_Comm communicator) {
  pt::ContextOptions options;
  options.communicator = pt::communicator(communicator);
  return pt::initialize(options);  // duplicates it, and never uses it otherwise
}

/// The sum of a number over the ranks of the context.
double sum(const pt::Context& context, double number) {
  const pt::View view = pt::View::dense(&number, pt::Dtype::f64, {});
  pt::all_reduce(context, view, view);
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = true;
  {
    pt::Context whole = context_of(MPI_COMM_WORLD);
    const int rank = whole.rank(), size = whole.size();

    // Even and odd ranks apart. The communicator may go as soon as its context is made.
    MPI_Comm parity = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
    pt::Context part = context_of(parity);
    MPI_Comm_free(&parity);

    const double of_part = sum(part, 1), of_whole = sum(whole, 1);
    const int members = (size + 1 - rank % 2) / 2;  // of the ranks, the even or the odd ones
    right = of_part == members && of_whole == size;
    std::printf("rank %d of %d is rank %d of %d in its part\n", rank, size, part.rank(), part.size());
    part.close();
    whole.close();
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
