// What a rank holds of A or B, and who takes it from there.
#pragma once

#include <vector>

#include "matmul/frame.hpp"

namespace partita::multiplication {

/// A rank's part of an input.
class OwnPart {
 public:
  OwnPart(const Frame& frame, bool of_a);

  const Region& region() const { return region_; }
  /// Whether `reader`, whose tile is not empty, takes some of the input from this rank.
  bool is_read_by(int reader) const;
  /// Whether it takes this piece, which has one owner but for replicas, from this rank.
  bool gives(int reader, const Region& piece) const;

 private:
  const Frame& frame_;
  bool of_a_;
  Region region_;
  std::vector<int> replicas_;  // that hold the same
};

}  // namespace partita::multiplication
