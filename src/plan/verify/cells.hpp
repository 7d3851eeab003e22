// Memory cells that hold values of any kind.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace partita::verification {

/// The cells of one buffer of one rank. Only pages that were touched exist: most of a staging buffer is not.
template <class Value>
class Cells {
 public:
  /// What was never written: `Value()`.
  Value read(std::int64_t slot) const {
    const auto number = static_cast<std::size_t>(slot);
    const std::size_t page = number / page_size;
    return page < pages_.size() && pages_[page] ? (*pages_[page])[number % page_size] : Value();
  }
  Value& at(std::int64_t slot) {
    const auto number = static_cast<std::size_t>(slot);
    const std::size_t page = number / page_size;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[number % page_size];
  }

 private:
  static constexpr std::size_t page_size = 256;
  using Page = std::array<Value, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace partita::verification
