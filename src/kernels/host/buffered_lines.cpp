#include "kernels/host/buffered_lines.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/round.hpp"
#include "kernels/host/number_arithmetic.hpp"

namespace partita::kernels {
namespace {

constexpr std::int64_t run_bytes = 256;                        // of neighbouring lines: four cache lines
constexpr std::int64_t block_bytes = std::int64_t{512} << 10;  // of a block, where lines are long
constexpr std::int64_t fewest = 4;                             // lines in a block

std::int64_t rounded(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

BufferedLines::BufferedLines(TransformKind kind, FftwPrecision precision, const FftwLoop& line,
                             std::vector<FftwLoop> batch)
    : precision_(precision),
      from_item_(items_of(kind, precision).from),
      to_item_(items_of(kind, precision).to),
      from_count_(kind == TransformKind::complex_to_real ? line.count / 2 + 1 : line.count),
      to_count_(kind == TransformKind::real_to_complex ? line.count / 2 + 1 : line.count),
      line_(line),
      blocks_(std::move(batch)) {
  in_place_ = from_item_ == to_item_ && line_.from_stride == line_.to_stride && blocks_.stays();
  const std::int64_t largest = std::max(from_item_, to_item_);
  width_ = std::clamp(block_bytes / (line.count * largest), fewest, run_bytes / largest);
  // About equal blocks: half spectra have one line more than there are in some blocks.
  const std::int64_t neighbours = blocks_.along().count, blocks = ceil_divide(neighbours, width_);
  width_ = ceil_divide(neighbours, blocks);
  hint_ = hint_for(blocks_.lines() * to_count_ * to_item_);
  from_bytes_ = rounded(from_count_ * width_ * from_item_);
  to_bytes_ = rounded(to_count_ * width_ * to_item_);
  full_ = block_of(width_);
  rest_ = block_of(blocks_.along().count % width_);
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
                   {lines, blocks_.along().from_stride * from_item_, from_item_}}};
  block.scatter = {to_item_,
                   0,
                   0,
                   {{to_count_, width_ * to_item_, line_.to_stride * to_item_},
                    {lines, to_item_, blocks_.along().to_stride * to_item_}}};
  block.gather = simplify(std::move(block.gather));
  block.scatter = simplify(std::move(block.scatter));
  return block;
}

void BufferedLines::run(const char* from, char* to, char* workspace, double factor) const {
  check<UnsupportedError>(from != to || in_place_,
                          "a local transform in place cannot move lines or change their dtype");
  blocks_.for_each(width_, [&](std::int64_t from_first, std::int64_t to_first, std::int64_t lines) {
    const Block& block = lines == width_ ? full_ : rest_;
    run_block(block, from + from_first * from_item_, to + to_first * to_item_, workspace, factor);
  });
}

// In a block that is not full the other lines are those of the block before: numbers that nobody reads.
void BufferedLines::run_block(const Block& block, const char* from, char* to, char* workspace,
                              double factor) const {
  char* const results = workspace + from_bytes_;
  copy(block.gather, from, workspace, StoreHint::cache);
  plan_->run(workspace, results);
  if (factor != 1) scale(results, factor);
  copy(block.scatter, results, to, from == to ? StoreHint::cache : hint_);
}

void BufferedLines::scale(char* results, double factor) const {
  const std::int64_t reals = to_count_ * width_ * to_item_ / (precision_ == FftwPrecision::f64 ? 8 : 4);
  const std::array<ScaleLoop, 1> all{{{reals, 1}}};
  if (precision_ == FftwPrecision::f64) {
    kernels::scale(all, 1, factor, reinterpret_cast<double*>(results));
  } else {
    kernels::scale(all, 1, static_cast<float>(factor), reinterpret_cast<float*>(results));
  }
}

}  // namespace partita::kernels
