#include "grid.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <partita/error.hpp>
#include <partita/mpi.hpp>
#include <partita/redistribute.hpp>

#include "blacs.hpp"

namespace partita::scalapack {
namespace {

/// All grids of this process. Never destroyed: at exit, MPI and BLACS may have ended before us. MPI_Finalize
/// empties it (see end_with_mpi).
struct Grids {
  std::vector<std::unique_ptr<Grid>> living;
  std::vector<std::unique_ptr<Grid>> ended;  ///< their BLACS contexts have ended
  int key = MPI_KEYVAL_INVALID;
};

Grids& grids() {
  static Grids& all = *new Grids;
  return all;
}

/// MPI frees the communicator of a BLACS context. The Partita context is freed later: not from inside MPI.
int retire(MPI_Comm /*communicator*/, int /*key*/, void* grid, void* /*extra*/) {
  Grids& all = grids();
  const auto found = std::find_if(all.living.begin(), all.living.end(),
                                  [&](const std::unique_ptr<Grid>& each) { return each.get() == grid; });
  if (found == all.living.end()) return MPI_SUCCESS;
  all.ended.push_back(std::move(*found));
  all.living.erase(found);
  return MPI_SUCCESS;
}

/// MPI_Finalize frees MPI_COMM_SELF before anything else, while MPI still works: the time to free what is
/// ours.
int end_with_mpi(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  grids().living.clear();
  grids().ended.clear();
  return MPI_SUCCESS;
}

int grid_key() {
  int& key = grids().key;
  if (key != MPI_KEYVAL_INVALID) return key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, retire, &key, nullptr);
  int at_end = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &at_end, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr);
  return key;
}

MPI_Comm communicator_of(int blacs_context) {
  constexpr int system_handle_of_context = 10;
  int handle = 0;
  blacs().get(blacs_context, system_handle_of_context, &handle);
  return blacs().to_communicator(handle);
}

}  // namespace

Grid& Grid::of(int blacs_context, const Coordinates& coordinates) {
  const MPI_Comm communicator = communicator_of(blacs_context);
  Grid* known = nullptr;
  int found = 0;
  MPI_Comm_get_attr(communicator, grid_key(), static_cast<void*>(&known), &found);
  if (found != 0) return *known;
  grids().ended.clear();
  grids().living.push_back(std::make_unique<Grid>(communicator, coordinates));
  Grid& made = *grids().living.back();
  MPI_Comm_set_attr(communicator, grid_key(), &made);
  return made;
}

Context Grid::started(const Device& device) const {
  ContextOptions options;
  options.communicator = partita::communicator(communicator_);
  options.device = device;
  // ScaLAPACK waits for late processes for ever. PARTITA_DEADLINE may shorten this.
  options.deadline = std::chrono::hours(24);
  // A factorisation makes each call once: plans should take little compared with the program's matrices.
  options.plan_cache_bytes = std::int64_t{64} << 20;
  return initialize(options);
}

const Context& Grid::context() {
  if (!context_) context_.emplace(started(Device::cpu()));
  return *context_;
}

const Context& Grid::devices() {
  if (!devices_) devices_.emplace(started(Device::cuda()));
  return *devices_;
}

/// One row a rank, and all rows on every rank.
struct Grid::Exchange {
  Array mine;
  Array all;
  Redistribute gather;

  Exchange(const Context& context, const Shape& shape)
      : mine(empty(context, shape, Slab(0), Dtype::i64)),
        all(empty(context, shape, Replicated(), Dtype::i64)),
        gather(context, mine.operand(), all.operand()) {}
};

std::vector<std::int64_t> Grid::gather(std::span<const std::int64_t> mine) {
  const auto count = static_cast<std::int64_t>(mine.size());
  const Shape shape{processes(), count};
  if (!exchange_ || exchange_->mine.shape() != shape)
    exchange_ = std::make_shared<Exchange>(context(), shape);
  std::copy(mine.begin(), mine.end(), exchange_->mine.data<std::int64_t>());
  exchange_->gather.execute(exchange_->mine, exchange_->all);
  const std::int64_t* const all = exchange_->all.data<std::int64_t>();
  return {all, all + volume(shape)};
}

std::vector<int> Grid::ranks_of(const Grid& inner) const {
  MPI_Group ours = MPI_GROUP_NULL;
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Comm_group(communicator_, &ours);
  MPI_Comm_group(inner.communicator_, &theirs);
  std::vector<int> numbers(static_cast<std::size_t>(inner.processes()));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> ranks(numbers.size(), MPI_UNDEFINED);
  MPI_Group_translate_ranks(theirs, inner.processes(), numbers.data(), ours, ranks.data());
  MPI_Group_free(&ours);
  MPI_Group_free(&theirs);
  if (std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end())
    throw ArgumentError("the context must hold all processes of the matrices' contexts");
  return ranks;
}

}  // namespace partita::scalapack
