#include "collectives/call_signature.hpp"

#include <algorithm>

namespace partita::collective {

CallSignature::CallSignature(std::string_view operation, const View& source, const View& destination)
    : operation_(operation) {
  add(source);
  add(destination);
}

void CallSignature::add(std::int64_t number) {
  if (count_ == words_.size()) {
    is_whole_ = false;
  } else {
    words_[count_++] = number;
  }
}

void CallSignature::add(std::span<const std::int64_t> numbers) {
  add(static_cast<std::int64_t>(numbers.size()));
  for (const std::int64_t number : numbers) add(number);
}

void CallSignature::add(const View& view) {
  add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(view.data)));
  add(static_cast<std::int64_t>(view.dtype) << 8 | static_cast<std::int64_t>(view.space) << 1 |
      static_cast<std::int64_t>(view.read_only ? 1 : 0));
  add(std::span(view.extents.begin(), view.extents.end()));
  add(std::span(view.strides.begin(), view.strides.end()));
}

bool CallSignature::operator==(const CallSignature& other) const {
  return is_whole_ && other.is_whole_ && operation_ == other.operation_ && count_ == other.count_ &&
         std::equal(words_.begin(), words_.begin() + count_, other.words_.begin());
}

}  // namespace partita::collective
