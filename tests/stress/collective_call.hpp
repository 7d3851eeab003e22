// Any collective with plain memory: what every rank brings, what it must get, and the call.
#pragma once

#include <partita/collectives.hpp>
#include <string>

#include "support/models/collectives_model.hpp"

namespace partita::testing {

struct CollectiveCall {
  enum class Kind {
    broadcast,
    reduce,
    all_reduce,
    scan,
    gather,
    scatter,
    all_gather,
    reduce_scatter,
    all_to_all,
    all_to_all_v,
  } kind = Kind::all_reduce;
  static constexpr int kinds = 10;

  int ranks = 1;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> counts;  ///< of the ranks' parts along dimension 0
  bool uneven = false;               ///< the parts differ
  Shape rest;                        ///< dimensions 1 and on
  ReduceOptions options;
  Scan scanned = Scan::inclusive;
  int root = 0;

  Shape source_shape(int rank) const;
  Shape destination_shape(int rank) const;  ///< also where it is not looked at
  bool has_source(int rank) const { return kind != Kind::scatter || rank == root; }
  bool has_destination(int rank) const {
    return (kind != Kind::reduce && kind != Kind::gather) || rank == root;
  }
  /// Source and destination are alike, and may be one.
  bool may_be_in_place() const { return kind <= Kind::scan && kind != Kind::reduce; }

  /// What the element of the destination of `rank` must be.
  Number expected(int rank, Index index, int salt) const;
  void operator()(const Context& context, const View& source, const View& destination, Stream stream) const;
  std::string text() const;

 private:
  std::int64_t sum(int last) const;
  /// Of the parts that `from` sends to `to`, in all-to-all.
  std::int64_t between(int from, int to) const;
  Shape with_rest(std::int64_t first) const;
};

}  // namespace partita::testing
