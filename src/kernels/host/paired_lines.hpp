// Half spectra along two axes, from complex to an even number n of real points, as complex transforms of half
// as many: the line of n real numbers is m = n/2 complex ones in memory, whose transform along both axes is a
// combination of the half spectra k and -k of the other axis (half_length.hpp). So both passes are complex,
// the second one in place, and all is stored in the result: half spectra of m + 1 numbers are not.
#pragma once

#include <memory>
#include <vector>

#include "kernels/host/half_length.hpp"
#include "kernels/host/lines.hpp"
#include "kernels/host/transform.hpp"

namespace partita::kernels {

/// The first pass: combines the half spectra and transforms them along their own axis. The result is complex,
/// to be transformed along `across` in place. Half spectra and lines are contiguous, and all distances
/// between lines of the result are even.
class PairedLines final : public Lines {
 public:
  /// `line` is the halved axis, its count n; strides of the result are in real numbers.
  PairedLines(FftwPrecision precision, const FftwLoop& across, const FftwLoop& line,
              std::vector<FftwLoop> batch, bool measure);

  std::int64_t workspace_bytes() const override { return 2 * width_ * line_bytes_; }
  void run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const override;

 private:
  struct Rows {
    const char* from;
    char* to;
  };
  std::int64_t end_of_pairs() const { return (rows_ + 1) / 2; }  ///< of half spectra, from 1 on
  void run_block(const Rows& rows, std::int64_t first, char* workspace, double factor) const;
  void run_single(const Rows& rows, std::int64_t row, char* buffer, double factor) const;
  void transform(std::int64_t lines, char* buffer, char* to) const;

  const FftwLibrary& library_;
  std::shared_ptr<const HalfLength> half_;
  std::vector<FftwLoop> batch_;
  std::int64_t item_, bytes_;           // of a complex number; of a line of the result
  std::int64_t rows_;                   // half spectra along the other axis
  std::int64_t from_along_, to_along_;  // bytes between them
  std::int64_t line_bytes_;             // between lines in the buffer
  std::int64_t width_;                  // pairs at a time
  std::shared_ptr<const LocalTransform> block_, single_;
};

}  // namespace partita::kernels
