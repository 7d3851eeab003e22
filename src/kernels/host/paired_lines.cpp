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

PairedLines::PairedLines(FftwPrecision precision, std::span<const FftwLoop> across, const FftwLoop& line,
                         std::vector<FftwLoop> batch, bool measure)
    : library_(fftw(precision)),
      half_(half_length(precision, line.count)),
      batch_(std::move(batch)),
      item_(items_of(TransformKind::complex_to_real, precision).from),
      bytes_(line.count / 2 * item_),
      planes_(across.size() > 1 ? across.front() : FftwLoop()),
      rows_(across.back().count),
      from_along_(across.back().from_stride * item_),
      to_along_(across.back().to_stride * item_ / 2),
      line_bytes_(round_up(bytes_, 64) + (bytes_ > 64 ? 64 : 0)),
      width_(std::clamp<std::int64_t>(buffer_bytes / (2 * line_bytes_), 1,
                                      std::max<std::int64_t>(1, (rows_ - 1) / 2))) {
  const auto is_odd = [](const FftwLoop& loop) { return loop.to_stride % 2 != 0; };
  check<UnsupportedError>(
      across.size() <= 2 && line.from_stride == 1 && line.to_stride == 1 &&
          std::ranges::none_of(across, is_odd) && std::ranges::none_of(batch_, is_odd),
      "half spectra of two or three axes are transformed at once where lines are contiguous, at even "
      "distances");
  TransformShape shape;
  shape.kind = TransformKind::complex_backward;
  shape.precision = precision;
  shape.measure = measure;
  shape.lines = {{line.count / 2, 1, 1}};
  single_ = plan_transform(shape, {true, 0, 0});
  shape.batch = {{width_, line_bytes_ / item_, to_along_ / item_}};
  block_ = plan_transform(shape, {});
  if (across.size() == 1) return;
  const std::int64_t step = across.back().to_stride / 2;
  along_rows_.emplace(shape.kind, precision, FftwLoop{rows_, step, step},
                      std::vector<FftwLoop>{{line.count / 2, 1, 1}}, measure);
}

std::int64_t PairedLines::workspace_bytes() const {
  return std::max(2 * width_ * line_bytes_, along_rows_ ? along_rows_->workspace_bytes() : 0);
}

void PairedLines::run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const {
  const std::int64_t pairs_of_planes = planes_.count / 2 + 1;
  std::int64_t block = 0,
               blocks = along_rows_ ? pairs_of_planes : 1 + ceil_divide(end_of_pairs() - 1, width_);
  for (const FftwLoop& loop : batch_) blocks *= loop.count;
  const auto is_mine = [&] {
    const std::int64_t number = block++;
    return number >= part.begin(blocks) && number < part.end(blocks);
  };
  walk(std::span<const FftwLoop>(batch_), std::int64_t{0}, std::int64_t{0},
       [&](std::int64_t from_first, std::int64_t to_first) {
         const Rows first = rows_of(0, from + from_first * item_, to + to_first * item_ / 2);
         if (!along_rows_) return run_rows(first, first, workspace, factor, is_mine);
         for (std::int64_t plane = 0; plane < pairs_of_planes; ++plane) {
           if (!is_mine()) continue;
           const Rows rows = rows_of(plane, first.from, first.to);
           const Rows others = rows_of((planes_.count - plane) % planes_.count, first.from, first.to);
           run_rows(rows, others, workspace, factor, [] { return true; });
           along_rows_->run(rows.to, rows.to, workspace, 1);
           if (others.to != rows.to) along_rows_->run(others.to, others.to, workspace, 1);
         }
       });
}

/// Of a plane and the one with its partners, which may be itself. The first block is of the half spectra that
/// are their own partners, or of the first ones of two planes.
template <class IsMine>
void PairedLines::run_rows(const Rows& rows, const Rows& others, char* workspace, double factor,
                           IsMine is_mine) const {
  const bool in_one = rows.to == others.to;
  if (is_mine()) {
    if (in_one) {
      run_single(rows, 0, workspace, factor);
      if (rows_ % 2 == 0) run_single(rows, rows_ / 2, workspace, factor);
    } else {
      run_block(rows, {others.from - rows_ * from_along_, others.to - rows_ * to_along_}, 0, 1, workspace,
                factor);
    }
  }
  const std::int64_t end = in_one ? end_of_pairs() : rows_;
  for (std::int64_t first = 1; first < end; first += width_)
    if (is_mine()) run_block(rows, others, first, std::min(width_, end - first), workspace, factor);
}

/// Rows `first` and following; those of the others, in reverse, end at `rows_ - first`.
void PairedLines::run_block(const Rows& rows, const Rows& others, std::int64_t first, std::int64_t lines,
                            char* workspace, double factor) const {
  const std::int64_t last = rows_ - first - lines + 1;
  char* const other_buffer = workspace + width_ * line_bytes_;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t j = lines - 1 - i;
    const std::int64_t spectrum_bytes = bytes_ + item_;
    fetch(rows.from + (first + i + lines) * from_along_, spectrum_bytes);
    fetch(others.from + (last + j - lines) * from_along_, spectrum_bytes);
    fetch(rows.to + (first + i) * to_along_, bytes_);
    fetch(others.to + (last + j) * to_along_, bytes_);
    half_->from_spectra({rows.from + (first + i) * from_along_, others.from + (last + j) * from_along_,
                         workspace + i * line_bytes_, other_buffer + j * line_bytes_},
                        factor);
  }
  transform(lines, workspace, rows.to + first * to_along_);
  transform(lines, other_buffer, others.to + last * to_along_);
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
