#include "descriptor.hpp"

#include <algorithm>

namespace partita::scalapack {

// Blocks 0, 1, ... : the first of length first_block, to `source`; block b to (source + b) mod processes.
std::int64_t Deal::owned_below(std::int64_t index, int coordinate, int processes) const {
  index = std::clamp<std::int64_t>(index, 0, extent);
  if (source < 0 || processes == 1) return index;
  const std::int64_t turn = (coordinate - source + processes) % processes;
  const std::int64_t in_first = turn == 0 ? std::min(index, first_block) : 0;
  if (index <= first_block) return in_first;
  const std::int64_t rest = index - first_block;
  const std::int64_t whole = rest / block;                   // blocks 1 .. whole are complete
  const std::int64_t before = turn == 0 ? processes : turn;  // this process's first of the blocks from 1 on
  const std::int64_t mine = whole < before ? 0 : (whole - before) / processes + 1;
  const bool partial = (whole + 1) % processes == turn;
  return in_first + mine * block + (partial ? rest % block : 0);
}

Descriptor read_descriptor(const int* entries) {
  Descriptor result;
  result.type = entries[0];
  result.context = entries[1];
  if (!result.known()) return result;
  const bool first = result.type == Descriptor::first_block;
  const int* const blocks = first ? entries + 6 : entries + 4;
  result.rows = {entries[2], entries[4], blocks[0], blocks[2]};
  result.columns = {entries[3], entries[5], blocks[1], blocks[3]};
  result.leading = blocks[4];
  return result;
}

}  // namespace partita::scalapack
