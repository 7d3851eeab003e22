// Transforms of strided lines by way of a small buffer: some neighbouring lines are gathered, transformed
// next to each other, and scattered. FFTW finds this too when it measures; its estimates walk straight along
// the strides, which at powers of two is ten times slower.
#pragma once

#include <memory>
#include <vector>

#include "kernels/host/copy.hpp"
#include "kernels/host/lines.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {

class BufferedLines final : public Lines {
 public:
  /// One line loop; any batch, of which the loop with the smallest steps is taken some at a time.
  BufferedLines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                std::vector<FftwLoop> batch);

  std::int64_t workspace_bytes() const override { return from_bytes_ + to_bytes_; }
  void run(const char* from, char* to, char* workspace, double factor) const override;

 private:
  /// The copies of a block of so many lines, and back.
  struct Block {
    StridedCopy gather, scatter;
  };
  Block block_of(std::int64_t lines) const;
  void run_block(const Block& block, const char* from, char* to, char* workspace, double factor) const;
  void scale(char* results, double factor) const;

  FftwPrecision precision_;
  std::int64_t from_item_, to_item_;    // bytes
  std::int64_t from_count_, to_count_;  // elements of a line
  FftwLoop line_;
  LineBlocks blocks_;
  std::int64_t width_ = 1;                      // lines in a block
  std::int64_t from_bytes_ = 0, to_bytes_ = 0;  // of a block
  bool in_place_ = false;                       // every element stays where it was
  StoreHint hint_ = StoreHint::cache;           // of results that lie elsewhere than the input
  Block full_, rest_;
  std::shared_ptr<const LocalTransform> plan_;
};

}  // namespace partita::kernels
