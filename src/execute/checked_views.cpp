#include "execute/checked_views.hpp"

#include <algorithm>

namespace partita::execution {
namespace {

bool are_same(const View& a, const View& b) {
  return a.data == b.data && a.dtype == b.dtype && a.space == b.space && a.device == b.device &&
         a.read_only == b.read_only && a.extents == b.extents && a.strides == b.strides;
}

}  // namespace

bool CheckedViews::know(std::span<const View> views, bool has_stream) const {
  return std::any_of(entries_.begin(), entries_.begin() + count_, [&](const Entry& entry) {
    return entry.count == views.size() && entry.has_stream == has_stream &&
           std::equal(views.begin(), views.end(), entry.views.begin(), are_same);
  });
}

void CheckedViews::add(std::span<const View> views, bool has_stream) {
  Entry& entry = entries_[next_];
  std::ranges::copy(views, entry.views.begin());
  entry.count = views.size();
  entry.has_stream = has_stream;
  next_ = (next_ + 1) % most;
  count_ = std::max(count_, next_ == 0 ? most : next_);
}

}  // namespace partita::execution
