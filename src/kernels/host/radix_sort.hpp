// Sorting by digits of 8 bits, the lowest first; stable. Digits that all elements share take no pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace partita::kernels {

/// From so many elements on it takes less time than sorting by comparisons.
inline constexpr std::int64_t least_radix_sorted = 256;

namespace radix {

using Places = std::array<std::int64_t, 256>;

/// By digit, of `digits` from bit `first` on: how many elements have each of its values.
template <int first, int digits, class Load, class KeyOf>
std::vector<Places> counted(std::int64_t count, const Load& load, const KeyOf& key_of) {
  std::vector<Places> places(digits, Places{});
  Places* const counts = places.data();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t key = static_cast<std::uint64_t>(key_of(load(i))) >> first;
    for (int digit = 0; digit < digits; ++digit) ++counts[digit][(key >> (8 * digit)) & 255];
  }
  return places;
}

/// The place of the first element of each value; false: all elements have one.
inline bool begin(Places& places, std::int64_t count) {
  std::int64_t next = 0;
  for (std::int64_t& place : places) {
    if (place == count) return false;
    const std::int64_t many = place;
    place = next;
    next += many;
  }
  return true;
}

/// A line of the cache, which is written to memory without being read first.
inline void write_line(const void* line, void* to) {
#if defined(__x86_64__)
  const auto* const from = static_cast<const __m128i*>(line);
  auto* const words = static_cast<__m128i*>(to);
  for (int word = 0; word < 4; ++word) _mm_stream_si128(words + word, _mm_load_si128(from + word));
#else
  std::memcpy(to, line, 64);
#endif
}

/// What was written becomes visible to other threads in order.
inline void finish_lines() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// Elements are collected to lines of the cache, by digit: memory is not read before it is written, and few
/// pages are written at a time.
template <class Element, class Load, class KeyOf, class Finish>
void pass(std::int64_t count, int shift, Places& places, Element* to, const Load& load, const KeyOf& key_of,
          const Finish& finish) {
  constexpr std::int64_t line = 64 / sizeof(Element);
  alignas(64) std::array<std::array<Element, static_cast<std::size_t>(line)>, 256> lines;
  const Places begins = places;
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  const auto offset = static_cast<std::int64_t>(address % 64 / sizeof(Element));  // of place 0 in its line
  const bool is_aligned = address % sizeof(Element) == 0;        // what others have made may not be
  const auto flush = [&](std::size_t digit, std::int64_t end) {  // the line that ends there, or a part of it
    const std::int64_t first = std::max(begins[digit], (end - 1 + offset) / line * line - offset);
    for (std::int64_t at = first; at < end; ++at)
      to[at] = lines[digit][static_cast<std::size_t>((at + offset) % line)];
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const Element element = load(i);
    const auto digit = static_cast<std::size_t>((static_cast<std::uint64_t>(key_of(element)) >> shift) & 255);
    const std::int64_t place = places[digit]++;
    const std::int64_t slot = (place + offset) & (line - 1);
    lines[digit][static_cast<std::size_t>(slot)] = finish(element);
    if (slot + 1 < line) continue;
    if (place - line + 1 >= begins[digit] && is_aligned) {
      write_line(lines[digit].data(), to + place - line + 1);
    } else {
      flush(digit, place + 1);
    }
  }
  finish_lines();
  for (std::size_t digit = 0; digit < lines.size(); ++digit) {
    const std::int64_t end = places[digit];
    if (end > begins[digit] && (end + offset) % line != 0) flush(digit, end);
  }
}

}  // namespace radix

/// The elements load(i) in the order of their keys, each as finish(element), in `sorted`. Bits of the keys
/// from `first` on are looked at, 8 for each of `digits`: elements are in the order of lower bits already.
/// `scratch`: memory for all elements, which may be missing for one digit. What load reads is neither. The
/// size of an element divides 64.
template <int first, int digits, class Element, class Load, class KeyOf, class Finish>
void radix_sort(std::int64_t count, Element* scratch, Element* sorted, const Load& load, const KeyOf& key_of,
                const Finish& finish) {
  std::vector<radix::Places> all = radix::counted<first, digits>(count, load, key_of);
  std::vector<int> passes;  // which digits differ
  for (int digit = 0; digit < digits; ++digit) {
    if (radix::begin(all[static_cast<std::size_t>(digit)], count)) passes.push_back(digit);
  }
  if (passes.empty()) {
    for (std::int64_t i = 0; i < count; ++i) sorted[i] = finish(load(i));
    return;
  }
  const Element* from = nullptr;
  const auto same = [](const Element& element) { return element; };
  for (std::size_t i = 0; i < passes.size(); ++i) {
    radix::Places& places = all[static_cast<std::size_t>(passes[i])];
    const int shift = first + 8 * passes[i];
    Element* const to = (passes.size() - i) % 2 == 0 ? scratch : sorted;
    const auto read = [from](std::int64_t at) { return from[at]; };
    const bool is_first = i == 0, is_last = i + 1 == passes.size();
    if (is_first && is_last) {
      radix::pass(count, shift, places, to, load, key_of, finish);
    } else if (is_first) {
      radix::pass(count, shift, places, to, load, key_of, same);
    } else if (is_last) {
      radix::pass(count, shift, places, to, read, key_of, finish);
    } else {
      radix::pass(count, shift, places, to, read, key_of, same);
    }
    from = to;
  }
}

}  // namespace partita::kernels
