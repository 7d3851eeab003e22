// What a rank holds of A or B, and who takes it from there.
#pragma once

#include <vector>

#include "matmul/frame.hpp"

namespace partita::multiplication {

/// A rank's part of an input.
class OwnPart {
 public:
  OwnPart(const Frame& frame, const Input& input);

  const Region& region() const { return region_; }
  /// Whether `reader`, which needs `wanted` of the input, takes some of it from this rank.
  bool is_read_by(int reader, const Region& wanted) const;
  /// Whether it takes this piece, which has one owner but for replicas, from this rank.
  bool gives(int reader, const Region& piece) const;

 private:
  const Frame& frame_;
  Region region_;
  std::vector<int> replicas_;  // that hold the same
};

}  // namespace partita::multiplication
