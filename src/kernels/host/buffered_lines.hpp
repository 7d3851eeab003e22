// Transforms of lines by way of a small buffer: some neighbouring lines are gathered, transformed next to
// each other, and scattered. FFTW finds this too for strided lines when it measures; its estimates walk
// straight along the strides, which at powers of two is ten times slower.
//
// Real lines of even length are transformed as complex ones of half of it (half_length.hpp), and those of odd
// length from complex to real in the other direction (odd_length.hpp). Where lines are contiguous in memory,
// the passes before and after FFTW's transform, or FFTW, read or write them there.
#pragma once

#include <memory>
#include <vector>

#include "kernels/host/copy.hpp"
#include "kernels/host/half_length.hpp"
#include "kernels/host/lines.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {

class BufferedLines final : public Lines {
 public:
  /// One line loop; any batch, of which the loop with the smallest steps is taken some at a time. `measure`
  /// is how FFTW plans the transforms, `threads` of it in each. Input that is `in_cache` is read from both
  /// ends without a copy.
  BufferedLines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                std::vector<FftwLoop> batch, bool measure, bool in_cache = false, int threads = 1);

  std::int64_t workspace_bytes() const override { return in_place_ ? buffer_bytes_ : 2 * buffer_bytes_; }
  void run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const override;

 private:
  /// The lines of one side in memory.
  struct Side {
    std::int64_t item = 0;   ///< bytes of an element
    std::int64_t count = 0;  ///< elements of a line
    std::int64_t step = 0;   ///< bytes from one to the next
    std::int64_t along = 0;  ///< bytes from line to line
    bool is_contiguous() const { return step == item; }
  };
  /// So many lines, their copies into a buffer and back.
  struct Block {
    std::int64_t lines = 0;
    StridedCopy gather, scatter;
  };
  /// What the lines are transformed from and to.
  struct Buffers {
    char* before;
    char* after;
  };

  bool is_backward() const { return kind_ == TransformKind::complex_to_real; }
  bool is_odd_backward() const { return is_backward() && !half_; }
  void choose_buffers();
  bool is_streamed() const;
  void choose_plans(bool measure, int threads);
  Block block_of(std::int64_t lines) const;
  bool is_aligned(const char* address) const { return library_.alignment_of(address) == 0; }
  Buffers buffers_in(char* workspace, char* to) const;
  void run_block(const Block& block, const char* from, char* to, const Buffers& buffers, double factor) const;
  void run_odd_backward(const Block& block, const char* from, char* to, const Buffers& buffers,
                        double factor) const;
  void bring(const Block& block, const char* from, char* buffer, double factor) const;
  void take(const Block& block, char* buffer, char* to, double factor, StoreHint hint) const;
  void scale(char* buffer, std::int64_t lines, double factor) const;

  TransformKind kind_;
  FftwPrecision precision_;
  const FftwLibrary& library_;
  std::int64_t length_;
  LineBlocks blocks_;
  Side from_, to_;
  std::shared_ptr<const HalfLength> half_;  // of real lines of even length
  std::int64_t width_ = 1;                  // lines in a block
  bool side_by_side_ = false;               // in buffers the lines' elements alternate
  std::int64_t line_bytes_ = 0;             // in buffers otherwise: from line to line
  std::int64_t buffer_bytes_ = 0;
  bool in_place_ = false;              // FFTW transforms long lines better so: there is one buffer
  bool in_cache_ = false;              // the input
  StoreHint hint_ = StoreHint::cache;  // for results that are not in place
  Block full_, rest_;
  std::shared_ptr<const LocalTransform> plan_;  // from buffer to buffer
  // With half_: of full blocks from the input, or to the result.
  std::shared_ptr<const LocalTransform> direct_;
};

}  // namespace partita::kernels
