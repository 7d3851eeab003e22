// Which ranks transform which lines, and in which order: the one thing in which the methods differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fft/problem.hpp"

namespace partita::fourier {

/// Every rank owns whole lines along `axes` and transforms them. Between the stages the array changes hands.
struct Stage {
  Layout before;          ///< of what is transformed; whole along `axes`
  Layout after;           ///< the same with the extents of the result
  std::vector<int> axes;  ///< may be empty in the first stage; the halved axis last
};

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
  std::optional<Factors> factors = {};  ///< of four_step, whose one stage says where the line lies
  double seconds = 0;                   ///< predicted
  std::int64_t moved_bytes = 0;         ///< that a rank takes from others, predicted

  const Layout& result() const { return stages.back().after; }
};

/// The candidates that the options allow, none of them priced. `wanted` is the result's layout; nothing:
/// any.
std::vector<Scheme> candidates(const Problem& problem, const std::optional<Layout>& wanted);

/// Predicted seconds and bytes of a rank, from the formulae of the cost model: what it takes in each change
/// of hands, and what it computes.
void predict(Scheme& scheme, const Problem& problem, const std::optional<Layout>& wanted);

/// The one visible chooser: the candidate that the model prices lowest. Throws ArgumentError where the method
/// asked for does not suit.
Scheme choose(const Problem& problem, const std::optional<Layout>& wanted);

/// All ranks on one node: the array changes hands in place.
bool on_one_node(const Topology& topology);

}  // namespace partita::fourier
