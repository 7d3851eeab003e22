// Which ranks transform which lines, and in which order: the one thing in which the methods differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fft/problem.hpp"
#include "redistribute/parts.hpp"

namespace partita::fourier {

/// Every rank owns whole lines along `axes` and transforms them. Between stages the array is redistributed.
struct Stage {
  Layout before;          ///< of what is transformed; whole along `axes`
  Layout after;           ///< the same with the extents of the result
  std::vector<int> axes;  ///< may be empty in the first stage; the halved axis last
};

/// What the stage transforms into `after`: the halved axis has another extent before. Nothing of nothing.
Region region_before(const Stage& stage, Region after);

/// Whether the halved axis is among those of the stage: its result then is of the other dtype.
inline bool changes_dtype(const Problem& problem, const Stage& stage) {
  return problem.halved_axis() >= 0 && contains(stage.axes, problem.halved_axis());
}

/// A line of rows * columns elements as a matrix.
struct Factors {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

struct Scheme {
  FftMethod method = FftMethod::local;
  std::string name;  ///< "slab", "pencil 2x4", ...
  std::string reason;
  std::vector<Stage> stages;
  bool stores = false;  ///< where they can be, results are stored in the memory of their owners (stores.hpp)
  std::optional<Factors> factors = {};  ///< for four_step, whose only stage has the layout of the line
  double seconds = 0;                   ///< predicted
  std::int64_t moved_bytes = 0;         ///< that a rank takes from others, predicted

  const Layout& result() const { return stages.back().after; }
};

/// The candidates that the options allow, none of them priced. `wanted` is the result's layout; nothing:
/// any.
std::vector<Scheme> candidates(const Problem& problem, const std::optional<Layout>& wanted);

/// The one visible chooser: the candidate that the model prices lowest. Throws ArgumentError where the method
/// asked for does not suit.
Scheme choose(const Problem& problem, const std::optional<Layout>& wanted);

/// Between nodes and between devices: the parts in which an array of layout `from`, transformed along `axes`,
/// is transferred to layout `to`, so that messages or copies of one part are in transit while the next is
/// transformed; one part if there is no benefit: no untransformed axis, or messages that would be too short.
/// The same on every rank.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to);

/// All ranks on one node.
bool on_one_node(const Topology& topology);
/// The array is redistributed in place in chunks that stay in cache: on the host, on one node.
bool through_peers(const Problem& problem);

}  // namespace partita::fourier
