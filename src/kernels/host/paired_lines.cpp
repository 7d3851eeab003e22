#include "kernels/host/paired_lines.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/round.hpp"
#include "kernels/host/walk.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t buffer_bytes = std::int64_t{16} << 10;  // in the first-level cache

}  // namespace

PairedLines::PairedLines(FftwPrecision precision, const FftwLoop& across, const FftwLoop& line,
                         std::vector<FftwLoop> batch, bool measure)
    : library_(fftw(precision)),
      half_(half_length(precision, line.count)),
      batch_(std::move(batch)),
      item_(items_of(TransformKind::complex_to_real, precision).from),
      bytes_(line.count / 2 * item_),
      rows_(across.count),
      from_along_(across.from_stride * item_),
      to_along_(across.to_stride * item_ / 2),
      line_bytes_(round_up(bytes_, 64) + (bytes_ > 64 ? 64 : 0)),
      width_(std::clamp<std::int64_t>(buffer_bytes / (2 * line_bytes_), 1,
                                      std::max<std::int64_t>(1, (rows_ - 1) / 2))) {
  const auto is_odd = [](const FftwLoop& loop) { return loop.to_stride % 2 != 0; };
  check<UnsupportedError>(
      line.from_stride == 1 && line.to_stride == 1 && !is_odd(across) && std::ranges::none_of(batch_, is_odd),
      "half spectra of two axes are transformed at once where lines are contiguous, at even "
      "distances");
  TransformShape shape;
  shape.kind = TransformKind::complex_backward;
  shape.precision = precision;
  shape.measure = measure;
  shape.lines = {{line.count / 2, 1, 1}};
  single_ = plan_transform(shape, {true, 0, 0});
  shape.batch = {{width_, line_bytes_ / item_, to_along_ / item_}};
  block_ = plan_transform(shape, {});
}

// The first block of each batch is of the half spectra that are their own partners.
void PairedLines::run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const {
  std::int64_t block = 0, blocks = 1 + ceil_divide(end_of_pairs() - 1, width_);
  for (const FftwLoop& loop : batch_) blocks *= loop.count;
  const auto is_mine = [&] {
    const std::int64_t number = block++;
    return number >= part.begin(blocks) && number < part.end(blocks);
  };
  walk(std::span<const FftwLoop>(batch_), std::int64_t{0}, std::int64_t{0},
       [&](std::int64_t from_first, std::int64_t to_first) {
         const Rows rows{from + from_first * item_, to + to_first * item_ / 2};
         if (is_mine()) {
           run_single(rows, 0, workspace, factor);
           if (rows_ % 2 == 0) run_single(rows, rows_ / 2, workspace, factor);
         }
         for (std::int64_t first = 1; first < end_of_pairs(); first += width_)
           if (is_mine()) run_block(rows, first, workspace, factor);
       });
}

void PairedLines::run_block(const Rows& rows, std::int64_t first, char* workspace, double factor) const {
  const std::int64_t lines = std::min(width_, end_of_pairs() - first), others = rows_ - first - lines + 1;
  char* const other_buffer = workspace + width_ * line_bytes_;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t j = lines - 1 - i;
    const std::int64_t spectrum_bytes = bytes_ + item_;
    fetch(rows.from + (first + i + lines) * from_along_, spectrum_bytes);
    fetch(rows.from + (others + j - lines) * from_along_, spectrum_bytes);
    fetch(rows.to + (first + i) * to_along_, bytes_);
    fetch(rows.to + (others + j) * to_along_, bytes_);
    half_->from_spectra({rows.from + (first + i) * from_along_, rows.from + (others + j) * from_along_,
                         workspace + i * line_bytes_, other_buffer + j * line_bytes_},
                        factor);
  }
  transform(lines, workspace, rows.to + first * to_along_);
  transform(lines, other_buffer, rows.to + others * to_along_);
}

/// A half spectrum that is its own partner.
void PairedLines::run_single(const Rows& rows, std::int64_t row, char* buffer, double factor) const {
  half_->from_spectrum(rows.from + row * from_along_, buffer, factor);
  transform(1, buffer, rows.to + row * to_along_);
}

void PairedLines::transform(std::int64_t lines, char* buffer, char* to) const {
  if (lines == width_ && library_.alignment_of(to) == 0) return block_->run(buffer, to);
  for (std::int64_t i = 0; i < lines; ++i) {
    char* const line = buffer + i * line_bytes_;
    single_->run(line, line);
    std::memcpy(to + i * to_along_, line, static_cast<std::size_t>(bytes_));
  }
}

}  // namespace partita::kernels
