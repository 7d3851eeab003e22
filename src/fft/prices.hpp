// What transforms and changes of hands cost on a machine, in seconds of the rank that owns most: rank 0.
#pragma once

#include <vector>

#include "fft/scheme.hpp"

namespace partita::fourier {

/// What rank 0 receives in an exchange, in bytes.
struct Taking {
  double own = 0;
  double node = 0;
  double network = 0;
  double messages = 0;
  double givers = 0;  ///< of the node
  double slower = 1;  ///< so many times as long take copies between devices, whose rows are short
};
Taking taking(const Layout& from, const Layout& to, const Problem& problem, double item_bytes);

/// Of the stage's axes, but for one: once over memory for each.
double compute_seconds(const Stage& stage, const Problem& problem, int but = -1);

/// The computation before the exchange takes `computed` seconds, and its results are transferred in so many
/// parts: the messages of the first part start when it is computed, and the link is busy while the rest is
/// computed. So are the copy engines of devices.
double exchange_seconds(const Taking& taken, const Problem& problem, double computed = 0, int parts = 1);

/// What a device takes to hand an array over.
struct HandOverPrice {
  double pass = 0;   ///< over memory
  double links = 0;  ///< at the pace of the slowest of memory and links
};
/// The last transform of a stage stores its results where they belong: the array is read once and stored.
HandOverPrice store_price(const Taking& taken, const Problem& problem);
/// Slowdown of transforms that run concurrently with stores (docs/performance.md).
inline constexpr double slower_beside_stores = 2;
/// Transfers by copy engines; the rank's own part is copied in memory.
HandOverPrice copy_price(const Taking& taken, const Problem& problem);

/// Until all is stored: the first group, a share of the whole, one part while the other axes of the next are
/// computed, which takes `computed` seconds in all; then the others.
double store_seconds(const HandOverPrice& price, const Problem& problem, double computed, int parts,
                     double first = 1);

/// Until all is copied, a stage's axes having taken `computed` seconds: the first group, part by part while
/// the next part is transformed, then the others; a start for each copy.
double copied_seconds(const HandOverPrice& price, const Problem& problem, double computed, int parts,
                      double first, std::size_t groups, double takers);

/// The share that is transferred while other axes are transformed: links are then always busy, and memory is
/// done when they are.
double share_handed_over_meanwhile(const HandOverPrice& price, double computed, int parts);

/// The remaining time after the transfer, for a transform of `computed` seconds that begins with the first of
/// such groups while the others are in transit.
double seconds_behind_groups(const HandOverPrice& price, double computed, const std::vector<double>& shares);

}  // namespace partita::fourier
