#include "kernels/host/buffered_lines.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "kernels/host/scale.hpp"

namespace partita {
namespace {

constexpr std::int64_t run_bytes = 256;                        // of neighbouring lines: four cache lines
constexpr std::int64_t block_bytes = std::int64_t{512} << 10;  // of a block, where lines are long
constexpr std::int64_t fewest = 4;                             // lines in a block

std::int64_t steps(const FftwLoop& loop) {
  return std::max(std::abs(loop.from_stride), std::abs(loop.to_stride));
}

/// Loops that go on where another one ends become one with it; the smallest steps come last.
std::vector<FftwLoop> merged(std::vector<FftwLoop> loops) {
  std::erase_if(loops, [](const FftwLoop& loop) { return loop.count == 1; });
  std::ranges::sort(loops, std::greater{}, steps);
  for (std::size_t i = loops.size(); i-- > 1;) {
    FftwLoop& outer = loops[i - 1];
    const FftwLoop& inner = loops[i];
    const bool goes_on = outer.from_stride == inner.count * inner.from_stride &&
                         outer.to_stride == inner.count * inner.to_stride;
    if (!goes_on) continue;
    outer = {outer.count * inner.count, inner.from_stride, inner.to_stride};
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return loops;
}

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

TransformItems items_of(TransformKind kind, FftwPrecision precision) {
  const std::int64_t real = precision == FftwPrecision::f64 ? 8 : 4;
  switch (kind) {
    case TransformKind::complex_forward:
    case TransformKind::complex_backward:
      return {2 * real, 2 * real};
    case TransformKind::real_to_complex:
      return {real, 2 * real};
    case TransformKind::complex_to_real:
      return {2 * real, real};
    default:
      return {real, real};
  }
}

BufferedLines::BufferedLines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                             std::vector<FftwLoop> batch)
    : precision_(precision),
      from_item_(items_of(kind, precision).from),
      to_item_(items_of(kind, precision).to),
      from_count_(kind == TransformKind::complex_to_real ? line.count / 2 + 1 : line.count),
      to_count_(kind == TransformKind::real_to_complex ? line.count / 2 + 1 : line.count),
      line_(line),
      outer_(merged(std::move(batch))) {
  if (!outer_.empty()) {
    along_ = outer_.back();
    outer_.pop_back();
  }
  const auto stays = [](const FftwLoop& loop) { return loop.from_stride == loop.to_stride; };
  in_place_ = from_item_ == to_item_ && stays(line_) && stays(along_) && std::ranges::all_of(outer_, stays);
  const std::int64_t largest = std::max(from_item_, to_item_);
  width_ = std::clamp(block_bytes / (line.count * largest), fewest, run_bytes / largest);
  width_ = std::min(width_, along_.count);
  from_bytes_ = rounded(from_count_ * width_ * from_item_);
  to_bytes_ = rounded(to_count_ * width_ * to_item_);
  full_ = block_of(width_);
  rest_ = block_of(along_.count % width_);
  TransformShape shape;
  shape.kind = kind;
  shape.precision = precision;
  shape.lines = {{line.count, width_, width_}};
  shape.batch = {{width_, 1, 1}};
  plan_ = plan_transform(shape, {});
}

BufferedLines::Block BufferedLines::block_of(std::int64_t lines) const {
  Block block;
  block.gather = {from_item_,
                  0,
                  0,
                  {{from_count_, line_.from_stride * from_item_, width_ * from_item_},
                   {lines, along_.from_stride * from_item_, from_item_}}};
  block.scatter = {to_item_,
                   0,
                   0,
                   {{to_count_, width_ * to_item_, line_.to_stride * to_item_},
                    {lines, to_item_, along_.to_stride * to_item_}}};
  block.gather = simplify(std::move(block.gather));
  block.scatter = simplify(std::move(block.scatter));
  return block;
}

void BufferedLines::run(const char* from, char* to, char* workspace, double factor) const {
  check<UnsupportedError>(from != to || in_place_,
                          "a local transform in place cannot move lines or change their dtype");
  // The outer loops as an odometer.
  std::array<std::int64_t, 2 * max_dimensions> at{};
  std::int64_t from_at = 0, to_at = 0;
  for (bool more = true; more;) {
    for (std::int64_t i = 0; i < along_.count; i += width_) {
      const Block& block = along_.count - i >= width_ ? full_ : rest_;
      run_block(block, from + (from_at + i * along_.from_stride) * from_item_,
                to + (to_at + i * along_.to_stride) * to_item_, workspace, factor);
    }
    more = false;
    for (std::size_t d = outer_.size(); d-- > 0 && !more;) {
      more = ++at[d] < outer_[d].count;
      from_at += outer_[d].from_stride;
      to_at += outer_[d].to_stride;
      if (more) continue;
      from_at -= outer_[d].count * outer_[d].from_stride;
      to_at -= outer_[d].count * outer_[d].to_stride;
      at[d] = 0;
    }
  }
}

// In a block that is not full the other lines are those of the block before: numbers that nobody reads.
void BufferedLines::run_block(const Block& block, const char* from, char* to, char* workspace,
                              double factor) const {
  char* const results = workspace + from_bytes_;
  copy(block.gather, from, workspace, StoreHint::cache);
  plan_->run(workspace, results);
  if (factor != 1) scale(results, factor);
  copy(block.scatter, results, to, StoreHint::cache);
}

void BufferedLines::scale(char* results, double factor) const {
  const std::int64_t reals = to_count_ * width_ * to_item_ / (precision_ == FftwPrecision::f64 ? 8 : 4);
  const std::array<ScaleLoop, 1> all{{{reals, 1}}};
  if (precision_ == FftwPrecision::f64) {
    partita::scale(all, 1, factor, reinterpret_cast<double*>(results));
  } else {
    partita::scale(all, 1, static_cast<float>(factor), reinterpret_cast<float*>(results));
  }
}

}  // namespace partita
