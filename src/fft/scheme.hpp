// Which ranks transform which lines, and in which order: the one thing in which the methods differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fft/problem.hpp"
#include "redistribute/parts.hpp"

namespace partita::fourier {

/// Every rank owns whole lines along `axes` and transforms them. Between the stages the array changes hands.
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
  std::optional<Factors> factors = {};  ///< of four_step, whose one stage says where the line lies
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

/// Between nodes and between devices: the parts in which what was transformed along `axes`, an array of
/// layout `from`, goes into layout `to`, so that the messages or copies of one part are under way while the
/// next is transformed; one where nothing is to be gained: no axis that is not transformed, or messages that
/// would be too short. The same on every rank.
redistribution::Parts parts_of(const Problem& problem, const Layout& from, Dtype dtype,
                               const std::vector<int>& axes, const Layout& to);

/// All ranks on one node.
bool on_one_node(const Topology& topology);
/// The array changes hands in place, a chunk that stays in cache at a time: on the host, on one node.
bool through_peers(const Problem& problem);

}  // namespace partita::fourier
