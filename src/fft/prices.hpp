// What transforms and changes of hands cost on a machine, in seconds of the rank that owns most: rank 0.
#pragma once

#include "fft/scheme.hpp"

namespace partita::fourier {

/// What rank 0 takes where an array changes hands, in bytes.
struct Taking {
  double own = 0;
  double node = 0;
  double network = 0;
  double messages = 0;
  double givers = 0;  ///< of the node
};
Taking taking(const Layout& from, const Layout& to, const Topology& topology, double item_bytes);

/// Of the stage's axes, but for one. Devices go over memory once for each.
double compute_seconds(const Stage& stage, const Problem& problem, int but = -1);

/// What is computed before the exchange takes `computed` seconds and is handed over in so many parts: the
/// first part's messages leave when that has been computed, and the link works while the rest is. So do the
/// copy engines of devices.
double exchange_seconds(const Taking& taken, const Problem& problem, double computed = 0, int parts = 1);

/// Of a device whose last transform of a stage stores its results where they belong.
struct StorePrice {
  double pass = 0;   ///< over memory: the array is read once and stored
  double links = 0;  ///< at the pace of the slowest of memory and links
};
StorePrice store_price(const Taking& taken, const Problem& problem);

/// Until all is stored: the first group, a share of the whole, one part while the other axes of the next are
/// computed, which takes `computed` seconds in all; then the others.
double store_seconds(const StorePrice& price, const Problem& problem, double computed, int parts,
                     double first = 1);

/// The share that is stored while the other axes are transformed: links then have no rest, and memory has
/// done when they have.
double share_stored_meanwhile(const StorePrice& price, double computed, int parts);

/// What is left when all is stored of a transform of `computed` seconds that begins with the first of so many
/// groups while the others are on their way.
double seconds_behind_stores(const StorePrice& price, double computed, double first, std::size_t groups);

}  // namespace partita::fourier
