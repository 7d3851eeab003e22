// Words in memory that processes share: one writes, any read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace partita::runtime {

using Word = std::uint64_t;
static_assert(std::atomic_ref<Word>::is_always_lock_free, "signals between processes need lock-free words");

inline Word load(Word& word, std::memory_order order = std::memory_order_acquire) {
  return std::atomic_ref(word).load(order);
}

inline void store(Word& word, Word value, std::memory_order order = std::memory_order_release) {
  std::atomic_ref(word).store(value, order);
}

/// Whether the word was 0 and now is `value`: of all who claim it, one does.
inline bool claim(Word& word, Word value) {
  Word none = 0;
  return std::atomic_ref(word).compare_exchange_strong(none, value);
}

/// Texts are written word by word, so that a concurrent reader is not a data race; longer texts are
/// truncated, and a zero byte ends shorter ones.
inline void write_text(std::span<Word> words, std::string_view text,
                       std::memory_order order = std::memory_order_relaxed) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    Word word = 0;
    const std::string_view piece = text.substr(std::min(text.size(), i * sizeof(Word)), sizeof(Word));
    if (!piece.empty()) std::memcpy(&word, piece.data(), piece.size());
    store(words[i], word, order);
  }
}

inline std::string read_text(std::span<Word> words) {
  std::string text(words.size_bytes(), '\0');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word word = load(words[i]);
    std::memcpy(text.data() + i * sizeof(Word), &word, sizeof(Word));
  }
  return text.substr(0, text.find('\0'));
}

}  // namespace partita::runtime
