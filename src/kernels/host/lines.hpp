// Lines of a local transform that are taken some at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/round.hpp"
#include "kernels/host/fftw_library.hpp"
#include "kernels/host/walk.hpp"

namespace partita::kernels {

/// One of about equal parts of a nest, for one of so many threads.
struct LinePart {
  int number = 0, count = 1;
  std::int64_t begin(std::int64_t blocks) const { return blocks * number / count; }
  std::int64_t end(std::int64_t blocks) const { return blocks * (number + 1) / count; }
};

/// A nest of lines that is transformed by way of buffers. Immutable; `run` is thread-safe and allocates
/// nothing.
class Lines {
 public:
  Lines() = default;
  virtual ~Lines() = default;
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  virtual std::int64_t workspace_bytes() const = 0;
  /// Results are multiplied by `factor`. `workspace` is aligned to 64 bytes at least. Throws UnsupportedError
  /// where the two are the same memory and lines would move in it.
  void run(const char* from, char* to, char* workspace, double factor) const {
    run_part(from, to, workspace, factor, {});
  }
  /// Parts need a workspace each.
  virtual void run_part(const char* from, char* to, char* workspace, double factor, LinePart part) const = 0;
};

/// What is read or written next, where the processor does not see that by itself: addresses jump, or go down.
inline void fetch(const char* first, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(first + i);
}

/// The batch of a nest as loops, and of the one with the smallest steps blocks of neighbouring lines.
class LineBlocks {
 public:
  explicit LineBlocks(std::vector<FftwLoop> batch);

  const FftwLoop& along() const { return along_; }  ///< over neighbouring lines
  bool stays() const;                               ///< lines start where they started
  std::int64_t lines() const;                       ///< of all blocks

  /// visit(from, to, lines): elements to the first of so many neighbouring lines, at most `width`.
  template <class Visit>
  void for_each(std::int64_t width, LinePart part, Visit visit) const {
    const std::int64_t blocks = lines() / along_.count * ceil_divide(along_.count, width);
    std::int64_t block = 0;
    walk(std::span<const FftwLoop>(outer_), std::int64_t{0}, std::int64_t{0},
         [&](std::int64_t from, std::int64_t to) {
           for (std::int64_t i = 0; i < along_.count; i += width, ++block) {
             if (block < part.begin(blocks) || block >= part.end(blocks)) continue;
             visit(from + i * along_.from_stride, to + i * along_.to_stride,
                   std::min(width, along_.count - i));
           }
         });
  }

 private:
  FftwLoop along_;
  std::vector<FftwLoop> outer_;
};

}  // namespace partita::kernels
