// Half spectra along two or three axes, from complex to an even number n of real points, as complex
// transforms of half as many: the line of n real numbers is m = n/2 complex ones in memory, whose transform
// along all axes is a combination of the half spectra k and -k of the other axes (half_length.hpp). So all
// passes are complex, those along other axes in place, and all is stored in the result: half spectra of m + 1
// numbers are not.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/host/buffered_lines.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {

/// The first pass: combines the half spectra and transforms them along their own axis, and of three axes the
/// planes k and -k, in cache, along their other one. The result is complex, to be transformed along the first
/// of `across` in place. Half spectra and lines are contiguous, and all distances between lines of the result
/// are even.
class PairedLines final : public Lines {
 public:
  /// `across`: one or two other axes, the one in planes last. `line` is the halved axis, its count n; strides
  /// of the result are in real numbers.
  PairedLines(FftwPrecision precision, std::span<const FftwLoop> across, const FftwLoop& line,
              std::vector<FftwLoop> batch, bool measure);

  std::int64_t workspace_bytes() const override;
  void run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const override;

 private:
  /// The rows of one plane.
  struct Rows {
    const char* from;
    char* to;
  };
  Rows rows_of(std::int64_t plane, const char* from, char* to) const {
    return {from + plane * planes_.from_stride * item_, to + plane * planes_.to_stride * item_ / 2};
  }
  std::int64_t end_of_pairs() const { return (rows_ + 1) / 2; }  ///< of one plane, from 1 on
  template <class IsMine>
  void run_rows(const Rows& rows, const Rows& others, char* workspace, double factor, IsMine is_mine) const;
  void run_block(const Rows& rows, const Rows& others, std::int64_t first, std::int64_t lines,
                 char* workspace, double factor) const;
  void run_single(const Rows& rows, std::int64_t row, char* buffer, double factor) const;
  void transform(std::int64_t lines, char* buffer, char* to) const;

  const FftwLibrary& library_;
  std::shared_ptr<const HalfLength> half_;
  std::vector<FftwLoop> batch_;
  std::int64_t item_, bytes_;           // of a complex number; of a line of the result
  FftwLoop planes_;                     // along the first of three axes
  std::int64_t rows_;                   // half spectra along the other axis, of a plane
  std::int64_t from_along_, to_along_;  // bytes between them
  std::int64_t line_bytes_;             // between lines in the buffer
  std::int64_t width_;                  // pairs at a time
  std::shared_ptr<const LocalTransform> block_, single_;
  std::optional<BufferedLines> along_rows_;  // of a plane, in place: the other one of three axes
};

}  // namespace partita::kernels
