#include "collectives/told.hpp"

#include <algorithm>

namespace partita::collective {

Told::Told(std::string_view operation, const View& source, const View& destination) : operation_(operation) {
  add(source);
  add(destination);
}

void Told::add(std::int64_t number) {
  if (count_ == words_.size()) {
    is_whole_ = false;
  } else {
    words_[count_++] = number;
  }
}

void Told::add(std::span<const std::int64_t> numbers) {
  add(static_cast<std::int64_t>(numbers.size()));
  for (const std::int64_t number : numbers) add(number);
}

void Told::add(const View& view) {
  add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.data)));
  add(static_cast<std::int64_t>(view.dtype) << 8 | static_cast<std::int64_t>(view.space));
  add(std::span(view.extents.begin(), view.extents.end()));
  add(std::span(view.strides.begin(), view.strides.end()));
}

bool Told::operator==(const Told& other) const {
  return is_whole_ && other.is_whole_ && operation_ == other.operation_ && count_ == other.count_ &&
         std::equal(words_.begin(), words_.begin() + count_, other.words_.begin());
}

}  // namespace partita::collective
