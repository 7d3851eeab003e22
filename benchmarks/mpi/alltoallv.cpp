#include "benchmarks/alltoallv.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "benchmarks/mpi/mpi_world.hpp"

namespace partita::benchmarks {
namespace {

/// A run of elements that are neighbours on both sides.
struct Run {
  std::int64_t local = 0;  // offset of its first element in the rank's part
  std::int64_t length = 0;
};

/// The rows of `region` in the part of `layout` on `rank`, as runs.
std::vector<Run> runs_of(const Region& region, const Layout& layout, int rank) {
  std::vector<Run> runs;
  const Region part = layout.region(rank);
  const std::int64_t width = part.sets[1].size();
  std::vector<Run> columns;
  for (const Interval& interval : region.sets[1].intervals()) {
    for (std::int64_t i = 0; i < interval.count; ++i) {
      columns.push_back({part.sets[1].position(interval.first + i * interval.period), interval.length});
    }
  }
  std::sort(columns.begin(), columns.end(), [](const Run& a, const Run& b) { return a.local < b.local; });
  for (std::int64_t i = 0; i < region.sets[0].size(); ++i) {
    const std::int64_t row = part.sets[0].position(region.sets[0].at(i));
    for (const Run& column : columns) runs.push_back({row * width + column.local, column.length});
  }
  return runs;
}

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
  return starts;
}

class Mpi : public PackedAlltoallv {
 public:
  Mpi(const Context& context, const Layout& source, const Layout& destination) {
    const auto ranks = static_cast<std::size_t>(context.size());
    const int me = context.rank();
    for (int peer = 0; peer < context.size(); ++peer) {
      outgoing_.push_back(runs_of(intersect(source.region(me), destination.region(peer)), source, me));
      incoming_.push_back(runs_of(intersect(source.region(peer), destination.region(me)), destination, me));
    }
    send_counts_.resize(ranks);
    receive_counts_.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
      for (const Run& run : outgoing_[i]) send_counts_[i] += static_cast<int>(run.length);
      for (const Run& run : incoming_[i]) receive_counts_[i] += static_cast<int>(run.length);
    }
    send_.assign(static_cast<std::size_t>(source.local_size(me)), 0.0);
    receive_.assign(static_cast<std::size_t>(destination.local_size(me)), 0.0);
  }

  void run(const double* source, double* destination) override {
    pack(source);
    exchange();
    const double* from = receive_.data();
    for (const auto& runs : incoming_) {
      for (const Run& run : runs) {
        std::memcpy(destination + run.local, from, sizeof(double) * static_cast<std::size_t>(run.length));
        from += run.length;
      }
    }
  }

 protected:
  void pack(const double* source) {
    double* to = send_.data();
    for (const auto& runs : outgoing_) {
      for (const Run& run : runs) {
        std::memcpy(to, source + run.local, sizeof(double) * static_cast<std::size_t>(run.length));
        to += run.length;
      }
    }
  }

  void exchange() {
    const std::vector<int> send_starts = starts_of(send_counts_);
    const std::vector<int> receive_starts = starts_of(receive_counts_);
    MPI_Alltoallv(send_.data(), send_counts_.data(), send_starts.data(), MPI_DOUBLE, receive_.data(),
                  receive_counts_.data(), receive_starts.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }

  std::vector<std::vector<Run>> outgoing_;
  std::vector<std::vector<Run>> incoming_;
  std::vector<int> send_counts_;
  std::vector<int> receive_counts_;
  std::vector<double> send_;
  std::vector<double> receive_;
};

/// slab:0 of A to slab:0 of its transpose: blocks are sent as rows and unpacked column by column, in tiles.
class Transposing : public Mpi {
 public:
  Transposing(const Context& context, const Layout& source, const Layout& destination)
      : Mpi(context, source, destination.permuted(std::vector<int>{1, 0})) {
    width_ = source.shape()[0];  // of a row of the result
    columns_ = destination.local_shape(context.rank())[0];
    for (int peer = 0; peer < context.size(); ++peer) rows_.push_back(source.local_shape(peer)[0]);
  }

  void run(const double* source, double* destination) override {
    pack(source);
    exchange();
    const double* block = receive_.data();
    std::int64_t first = 0;
    for (const std::int64_t rows : rows_) {
      transpose(block, rows, destination + first);
      block += rows * columns_;
      first += rows;
    }
  }

 private:
  void transpose(const double* block, std::int64_t rows, double* destination) const {
    constexpr std::int64_t tile = 32;
    for (std::int64_t j = 0; j < columns_; j += tile) {
      for (std::int64_t i = 0; i < rows; i += tile) {
        for (std::int64_t c = j; c < std::min(j + tile, columns_); ++c) {
          for (std::int64_t r = i; r < std::min(i + tile, rows); ++r) {
            destination[c * width_ + r] = block[r * columns_ + c];
          }
        }
      }
    }
  }

  std::int64_t width_ = 0;
  std::int64_t columns_ = 0;
  std::vector<std::int64_t> rows_;
};

}  // namespace

std::unique_ptr<PackedAlltoallv> make_alltoallv(const Context& context, const Layout& source,
                                                const Layout& destination, bool transposed) {
  if (!spans_mpi_world(context)) return nullptr;
  if (transposed) return std::make_unique<Transposing>(context, source, destination);
  return std::make_unique<Mpi>(context, source, destination);
}

}  // namespace partita::benchmarks
