#include "kernels/host/buffered_lines.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "base/round.hpp"
#include "kernels/host/number_arithmetic.hpp"
#include "kernels/host/odd_length.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t run_bytes = 256;  // of neighbouring lines: four cache lines
constexpr std::int64_t far_block = std::int64_t{512}
                                   << 10;                   // of lines that are gathered, where they are long
constexpr std::int64_t near_block = std::int64_t{8} << 10;  // of contiguous ones: the first-level cache
constexpr std::int64_t fewest = 4;                          // lines in a block of gathered ones
constexpr std::int64_t longest_beside = 128;                // points: beyond, lines are better one by one
constexpr std::int64_t in_place_bytes = std::int64_t{1} << 20;  // beyond, one buffer is better than two

// What is larger does not stay in a third-level cache until the next pass reads it.
constexpr std::int64_t streamed_bytes = std::int64_t{12} << 20;
constexpr std::int64_t page_bytes = 4096;

bool is_real(TransformKind kind) {
  return kind == TransformKind::real_to_complex || kind == TransformKind::complex_to_real;
}

std::int64_t elements(std::int64_t length, bool halved) {
  return halved ? length / 2 + 1 : length;
}

}  // namespace

BufferedLines::BufferedLines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                             std::vector<FftwLoop> batch, bool measure, bool in_cache, int threads)
    : kind_(kind),
      precision_(precision),
      library_(fftw(precision)),
      length_(line.count),
      blocks_(std::move(batch)),
      in_cache_(in_cache) {
  const TransformItems items = items_of(kind, precision);
  const FftwLoop& along = blocks_.along();
  from_ = {items.from, elements(length_, is_backward()), line.from_stride * items.from,
           along.from_stride * items.from};
  to_ = {items.to, elements(length_, kind == TransformKind::real_to_complex), line.to_stride * items.to,
         along.to_stride * items.to};
  if (is_real(kind) && length_ % 2 == 0) half_ = half_length(precision, length_);
  choose_buffers();
  choose_plans(measure, threads);
  full_ = block_of(width_);
  rest_ = block_of(blocks_.along().count % width_);
}

void BufferedLines::choose_buffers() {
  side_by_side_ = !is_real(kind_) && length_ <= longest_beside;
  const std::int64_t longer =
      std::max((is_odd_backward() ? length_ : from_.count) * from_.item, to_.item * to_.count);
  in_place_ = longer > in_place_bytes && (from_.item == to_.item || half_);
  // Lines whose distance is a power of two would evict each other.
  line_bytes_ = round_up(longer, 64) / 64 % 2 == 0 ? round_up(longer, 64) + 64 : round_up(longer, 64);
  const std::int64_t neighbours = blocks_.along().count;
  if (from_.is_contiguous() && to_.is_contiguous()) {
    width_ = std::clamp<std::int64_t>(near_block / (2 * line_bytes_), 1, neighbours);
  } else {
    width_ = std::clamp(far_block / longer, fewest, run_bytes / std::max(from_.item, to_.item));
  }
  if (is_streamed()) hint_ = StoreHint::memory;
  // About equal blocks: half spectra have one line more than there are in some blocks. Shorter runs would not
  // be stored past the cache.
  const bool keeps_width = hint_ == StoreHint::memory && neighbours > width_;
  width_ = ceil_divide(neighbours, keeps_width ? neighbours / width_ : ceil_divide(neighbours, width_));
  buffer_bytes_ = side_by_side_ ? round_up(longer * width_, 64) : line_bytes_ * width_;
}

/// Runs that are stored in the same sets of the caches do not stay there. Stores of other short runs past the
/// cache would take several times as long.
bool BufferedLines::is_streamed() const {
  const std::int64_t bytes = blocks_.lines() * to_.count * to_.item;
  const bool is_line_by_line = is_real(kind_) && to_.is_contiguous();
  if (is_line_by_line || to_.step % page_bytes == 0) return hint_for(bytes) == StoreHint::memory;
  return bytes > streamed_bytes && width_ * std::max(from_.item, to_.item) >= run_bytes;
}

void BufferedLines::choose_plans(bool measure, int threads) {
  TransformShape shape;
  shape.kind = kind_;
  shape.precision = precision_;
  shape.measure = measure;
  shape.threads = threads;
  std::int64_t from_item = from_.item, to_item = to_.item, length = length_;
  if (is_odd_backward()) {
    shape.kind = TransformKind::complex_backward;
    to_item = from_item;
  }
  if (half_) {
    shape.kind = is_backward() ? TransformKind::complex_backward : TransformKind::complex_forward;
    from_item = to_item = std::max(from_item, to_item);
    length /= 2;
  }
  if (side_by_side_) {
    shape.lines = {{length, width_, width_}};
    shape.batch = {{width_, 1, 1}};
  } else {
    shape.lines = {{length, 1, 1}};
    shape.batch = {{width_, line_bytes_ / from_item, line_bytes_ / to_item}};
  }
  plan_ = plan_transform(shape, {in_place_, 0, 0});
  if (in_place_ || !half_) return;
  if (is_backward() && hint_ == StoreHint::memory) return;  // copies are stored past the cache
  const Side& real = is_backward() ? to_ : from_;
  const std::int64_t item = is_backward() ? to_item : from_item;
  if (!real.is_contiguous() || real.along % item != 0) return;
  FftwLoop& batch = shape.batch.front();
  (is_backward() ? batch.to_stride : batch.from_stride) = real.along / item;
  direct_ = plan_transform(shape, {});
}

BufferedLines::Block BufferedLines::block_of(std::int64_t lines) const {
  const auto step = [&](const Side& side) { return side_by_side_ ? width_ * side.item : side.item; };
  const auto along = [&](const Side& side) { return side_by_side_ ? side.item : line_bytes_; };
  Block block{lines, {from_.item, 0, 0, {}}, {to_.item, 0, 0, {}}};
  block.gather.loops = {{from_.count, from_.step, step(from_)}, {lines, from_.along, along(from_)}};
  block.scatter.loops = {{to_.count, step(to_), to_.step}, {lines, along(to_), to_.along}};
  block.gather = simplify(std::move(block.gather));
  block.scatter = simplify(std::move(block.scatter));
  return block;
}

void BufferedLines::run_part(const char* from, char* to, char* workspace, double factor,
                             LinePart part) const {
  const bool stays = from_.item == to_.item && from_.step == to_.step && blocks_.stays();
  check<UnsupportedError>(from != to || stays,
                          "a local transform in place cannot move lines or change their dtype");
  blocks_.for_each(width_, part, [&](std::int64_t from_first, std::int64_t to_first, std::int64_t lines) {
    char* const results = to + to_first * to_.item;
    run_block(lines == width_ ? full_ : rest_, from + from_first * from_.item, results,
              buffers_in(workspace, results), factor);
  });
}

/// Where one buffer is better, the result is that if it can be.
BufferedLines::Buffers BufferedLines::buffers_in(char* workspace, char* to) const {
  if (!in_place_) return {workspace, workspace + buffer_bytes_};
  const bool lands = half_ && from_.is_contiguous() && to_.is_contiguous() && is_aligned(to);
  return lands ? Buffers{to, to} : Buffers{workspace, workspace};
}

// In a block that is not full the other lines are those of the block before: their results are not read.
void BufferedLines::run_block(const Block& block, const char* from, char* to, const Buffers& buffers,
                              double factor) const {
  if (is_odd_backward()) return run_odd_backward(block, from, to, buffers, factor);
  const bool directly = direct_ && block.lines == width_ && is_aligned(is_backward() ? to : from);
  if (is_backward()) {
    bring(block, from, buffers.before, factor);
    if (directly) return direct_->run(buffers.before, to);
    plan_->run(buffers.before, buffers.after);
    if (buffers.after != to) copy(block.scatter, buffers.after, to, hint_);
    return;
  }
  if (directly) {
    direct_->run(const_cast<char*>(from), buffers.after);
  } else {
    copy(block.gather, from, buffers.before, StoreHint::cache);
    plan_->run(buffers.before, buffers.after);
  }
  take(block, buffers.after, to, factor, from == to ? StoreHint::cache : hint_);
}

/// Reads and writes contiguous lines where they are, and strided ones through the other buffer.
void BufferedLines::run_odd_backward(const Block& block, const char* from, char* to, const Buffers& buffers,
                                     double factor) const {
  const bool reads_there = from_.is_contiguous();
  const bool writes_there = to_.is_contiguous() && hint_ == StoreHint::cache;
  if (!reads_there) copy(block.gather, from, buffers.after, StoreHint::cache);
  for (std::int64_t i = 0; i < block.lines; ++i) {
    if (reads_there) fetch(from + (block.lines + i) * from_.along, from_.count * from_.item);
    if (writes_there) fetch(to + i * to_.along, to_.count * to_.item);
    complete_spectrum(precision_, length_,
                      reads_there ? from + i * from_.along : buffers.after + i * line_bytes_,
                      buffers.before + i * line_bytes_, factor);
  }
  plan_->run(buffers.before, buffers.after);
  for (std::int64_t i = 0; i < block.lines; ++i) {
    take_reals(precision_, length_, buffers.after + i * line_bytes_,
               writes_there ? to + i * to_.along : buffers.before + i * line_bytes_);
  }
  if (!writes_there) copy(block.scatter, buffers.before, to, hint_);
}

/// What is to be transformed to an even number of real points, scaled.
void BufferedLines::bring(const Block& block, const char* from, char* buffer, double factor) const {
  const bool there = (in_place_ || in_cache_) && from_.is_contiguous();
  if (!there) copy(block.gather, from, buffer, StoreHint::cache);
  for (std::int64_t i = 0; i < block.lines; ++i) {
    char* const line = buffer + i * line_bytes_;
    if (!there && from_.is_contiguous())
      fetch(from + (block.lines + i) * from_.along, from_.count * from_.item);
    half_->from_spectrum(there ? from + i * from_.along : line, line, factor);
  }
}

/// What has been transformed, to the result.
void BufferedLines::take(const Block& block, char* buffer, char* to, double factor, StoreHint hint) const {
  const bool there = buffer == to;
  if (!half_) scale(buffer, block.lines, factor);
  for (std::int64_t i = 0; half_ && i < block.lines; ++i) {
    char* const line = buffer + i * line_bytes_;
    half_->to_spectrum(line, there ? to + i * to_.along : line, factor);
  }
  if (!there) copy(block.scatter, buffer, to, hint);
}

void BufferedLines::scale(char* buffer, std::int64_t lines, double factor) const {
  if (factor == 1) return;
  const std::int64_t real = precision_ == FftwPrecision::f64 ? 8 : 4, reals = to_.count * to_.item / real;
  const std::array<ScaleLoop, 2> line_by_line{{{lines, line_bytes_ / real}, {reals, 1}}};
  const std::array<ScaleLoop, 1> at_once{{{reals * width_, 1}}};
  const std::span<const ScaleLoop> loops =
      side_by_side_ ? std::span<const ScaleLoop>(at_once) : std::span<const ScaleLoop>(line_by_line);
  if (precision_ == FftwPrecision::f64) {
    kernels::scale(loops, 1, factor, reinterpret_cast<double*>(buffer));
  } else {
    kernels::scale(loops, 1, static_cast<float>(factor), reinterpret_cast<float*>(buffer));
  }
}

}  // namespace partita::kernels
