#include "array/overlap.hpp"

#include <algorithm>
#include <optional>

namespace partita::arrays {
namespace {

struct Span {
  std::intptr_t first = 0;
  std::intptr_t last = 0;
};

Span span_of(const View& view) {
  const auto begin = reinterpret_cast<std::intptr_t>(view.data);
  Span span{begin, begin};
  for (int d = 0; d < std::min(view.extents.size(), view.strides.size()); ++d) {
    const std::int64_t reach = (view.extents[d] - 1) * view.strides[d] * size_of(view.dtype);
    (reach < 0 ? span.first : span.last) += reach;
  }
  span.last += size_of(view.dtype);
  return span;
}

/// Rows of `length` elements side by side, `count` of them, `step` apart.
struct Rows {
  std::int64_t length = 1;
  std::int64_t count = 1;
  std::int64_t step = 0;
};

/// Nothing where the view is not of this form.
std::optional<Rows> rows_of(const View& view) {
  Rows rows;
  for (int d = 0; d < view.extents.size(); ++d) {
    if (view.extents[d] == 1) continue;
    if (view.strides[d] == 1 && rows.length == 1) {
      rows.length = view.extents[d];
    } else if (view.strides[d] > 1 && rows.count == 1) {
      rows.count = view.extents[d];
      rows.step = view.strides[d];
    } else {
      return std::nullopt;
    }
  }
  return rows;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// a and b meet where (i - i') + (j - j') step = offset for some i < a.length, i' < b.length, j < a.count,
/// j' < b.count; `offset` is from a's first element to b's.
bool rows_meet(const Rows& a, const Rows& b, std::int64_t step, std::int64_t offset) {
  const std::int64_t least = std::max(-floor_divide(a.length - 1 - offset, step), -(b.count - 1));
  const std::int64_t most = std::min(floor_divide(offset + b.length - 1, step), a.count - 1);
  return least <= most;
}

}  // namespace

bool spans_meet(const View& a, const View& b) {
  for (const View* view : {&a, &b}) {
    if (view->data == nullptr || volume(view->extents) == 0) return false;
  }
  const Span one = span_of(a);
  const Span two = span_of(b);
  return std::max(one.first, two.first) < std::min(one.last, two.last);
}

bool overlap(const View& a, const View& b) {
  if (!spans_meet(a, b)) return false;
  const std::optional<Rows> rows_a = rows_of(a);
  const std::optional<Rows> rows_b = rows_of(b);
  const std::intptr_t bytes = span_of(b).first - span_of(a).first;
  if (a.dtype != b.dtype || bytes % size_of(a.dtype) != 0 || !rows_a || !rows_b) return true;
  const bool one_step = rows_a->step == rows_b->step || rows_a->step == 0 || rows_b->step == 0;
  const std::int64_t step = std::max(rows_a->step, rows_b->step);
  if (!one_step || step == 0) return true;
  return rows_meet(*rows_a, *rows_b, step, bytes / size_of(a.dtype));
}

}  // namespace partita::arrays
