// Tiles of adjacent lines, which blocks of threads transform in sequence (LineTransform).
//
// With n = a b c the length, by Stockham (1966), in the form of Govindaraju et al. (2008): of a, then b, then
// c values that are n/a, n/b, n/c apart every thread makes a small transform in registers; between two of
// them all are exchanged through shared memory,
//
//   X_s(j + r n/R), j < n/R, times w^(r (j mod s) n/(s R))  ->  place  (j div s) s R + (j mod s) + r s
//
// where s is the product of the factors before R, w = exp(-2 pi i / n). Backward is forward with real and
// imaginary parts swapped before and after.
//
// Two lines a and b of real numbers are transformed as z = a + i b, whose transform Z gives both:
//
//   A_k = (Z_k + conj Z_(n-k)) / 2,  B_k = (Z_k - conj Z_(n-k)) / 2i
//
// A value is a number of a c128 line, or those of two adjacent c64 lines. If rows are not multiples of
// 16 bytes, a value's two lines are half a tile apart, so that concurrent writes of threads are still
// contiguous: links transfer units of 32 bytes. Also plain C++: tests without a device run the same code,
// thread by thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/line_transform.hpp"
#include "kernels/cuda/line_values.hpp"

namespace partita::kernels::cuda {

/// How a length falls into factors, and how many lines' values a block takes at once (128 bytes side by side
/// but for the longest lines).
template <int n>
struct LineFactors {
  static constexpr int first = n <= 16 ? n : n == 32 || n == 64 || n == 512 ? 8 : 16;
  static constexpr int second = n <= 16 ? 1 : n == 32 ? 4 : n == 256 || n == 2048 ? 16 : 8;
  static constexpr int third = n / (first * second);
  static constexpr int threads_a_line = n / first;
  static constexpr int columns = n == 2048 ? 4 : n >= 256 ? 8 : 128 / threads_a_line;
  static constexpr int threads = threads_a_line * columns;
  static constexpr int skew = first == 16 ? 4 : 3;    // one place is left free after 16 or 8
  static constexpr int room = (n + (n >> skew)) | 1;  // of a column: odd, so no two share banks
  static constexpr int exchanged = second == 1 ? 0 : room * columns;
  static_assert(first * second * third == n);
};

/// visit(n), a constant, for the power of two from 2 to `longest` that `length` is.
template <std::int64_t longest, int n = 2, class Visit>
auto with_length(std::int64_t length, const Visit& visit) {
  if constexpr (n == longest) {
    return visit(std::integral_constant<int, n>());
  } else {
    if (length == n) return visit(std::integral_constant<int, n>());
    return with_length<longest, 2 * n>(length, visit);
  }
}

/// Whether adjacent lines are contiguous, so that values can be read or written at once.
struct WideAccess {
  bool from = false;
  bool to = false;
  bool whole = false;  ///< both, and no value has a line too few
};
inline WideAccess wide_access(const LineTransform& what) {
  if (what.of_reals) return {};
  const std::int64_t lines = what.single ? 2 : 1;
  const auto even = [&](const void* base, std::int64_t along, std::int64_t apart,
                        const std::int64_t* strides) {
    bool result =
        reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && along % lines == 0 && (apart == 1 || lines == 1);
    for (int l = 0; l < what.loops; ++l) result = result && strides[l] % lines == 0;
    return result;
  };
  WideAccess wide;
  wide.from = even(what.from, what.from_along, what.from_apart, what.from_strides);
  wide.to = true;
  for (int p = 0; p < what.pieces; ++p) {
    const LineTransform::Piece& piece = what.piece[p];
    wide.to = wide.to && piece.apart == 1 && even(piece.to, piece.along, piece.apart, piece.strides);
  }
  wide.whole = wide.from && wide.to && what.neighbours % lines == 0;
  return wide;
}

/// Where the results of lines go; of what a block's threads share.
template <int n>
struct LineTargets {
  struct Owner {
    std::int64_t offset;  // bytes, of this tile
    std::int64_t apart;   // bytes
  };
  Owner owners[LineTransform::most_pieces];
  Several<char*, n> to;  // by position, without the tile's offset
  Several<unsigned char, n> owner;
};

/// What they share besides.
template <class Value, int n>
struct LineShared {
  Several<Value, LineFactors<n>::exchanged + 1> values;
  Several<LineNumber<typename Value::Real>, n> roots;
};

/// What takes registers, of which the longest lines have none to spare, so that it is compiled apart.
enum class LineAccess : std::uint8_t {
  any,
  whole,  ///< all values are read and written whole
  reals,  ///< LineTransform::of_reals, of lines that go through shared memory
};

/// One thread of a block. Between `prepare`, `put` and `take` all threads of the block meet.
template <class Value, int n, LineAccess access>
class LineThread {
 public:
  static constexpr bool whole = access == LineAccess::whole, of_reals = access == LineAccess::reals;
  using Factors = LineFactors<n>;
  using Shared = LineShared<Value, n>;
  using Real = typename Value::Real;
  using Number = LineNumber<Real>;
  static constexpr int kept = Factors::first;  // values of a thread
  using Values = Several<Value, kept>;

  PARTITA_EVERYWHERE LineThread(const LineTransform& what, Shared& shared, LineTargets<n>& targets,
                                int thread, const WideAccess& wide)
      : what_(what), shared_(shared), targets_(targets), thread_(thread), wide_(wide) {
    const bool along = what.from_along == 1 && what.from_apart != 1;
    column_ = along ? thread / Factors::threads_a_line : thread % Factors::columns;
    first_ = along ? thread % Factors::threads_a_line : thread / Factors::columns;
  }

  /// What serves all tiles.
  PARTITA_EVERYWHERE void prepare() {
    for (int i = thread_; i < n; i += Factors::threads) {
      shared_.roots[i] = root_of<Real>(i <= n / 2 ? -2 * i : 2 * (n - i), n);
      int owner = 0;
      while (owner + 1 < what_.pieces && what_.piece[owner + 1].first <= i) ++owner;
      const LineTransform::Piece& piece = what_.piece[owner];
      targets_.owner[i] = static_cast<unsigned char>(owner);
      targets_.to[i] = static_cast<char*>(piece.to) + (i - piece.first) * piece.along * number_bytes;
    }
  }

  /// Reads the lines of tile number `tile`.
  PARTITA_EVERYWHERE void load(std::int64_t tile, Several<Value, kept>& values) {
    find(tile);
    const char* from =
        static_cast<const char*>(what_.from) + (from_ + first_ * what_.from_along) * from_bytes;
    const std::int64_t step = Factors::threads_a_line * what_.from_along * from_bytes;
    PARTITA_UNROLLED
    for (int r = 0; r < kept; ++r) {
      values[r] = read(from + r * step);
      if (what_.backward) values[r] = values[r].swapped();
    }
  }

  template <int radix>
  PARTITA_EVERYWHERE static void transform(Several<Value, kept>& values) {
    PARTITA_UNROLLED
    for (int b = 0; b < kept / radix; ++b) {
      Several<Value, radix> from;
      PARTITA_UNROLLED
      for (int r = 0; r < radix; ++r) from[r] = values[b * radix + r];
      transform_values<radix, 1>(from, values + b * radix);
    }
  }

  /// Values that `radix` of `before` have made into shared memory.
  template <int radix, int before>
  PARTITA_EVERYWHERE void put(const Several<Value, kept>& values) {
    if (before == 1 && thread_ < what_.pieces) put_owner(thread_);
    PARTITA_UNROLLED
    for (int b = 0; b < kept / radix; ++b) {
      const int j = first_ + b * Factors::threads_a_line;
      const int place = j / before * before * radix + j % before;
      PARTITA_UNROLLED
      for (int r = 0; r < radix; ++r) shared_.values[at(place + r * before)] = values[b * radix + r];
    }
  }

  /// Those that `radix` after `before` takes, times roots of unity.
  template <int radix, int before>
  PARTITA_EVERYWHERE void take(Several<Value, kept>& values) const {
    PARTITA_UNROLLED
    for (int b = 0; b < kept / radix; ++b) {
      const int j = first_ + b * Factors::threads_a_line;
      const int turn = j % before * (n / (before * radix));
      PARTITA_UNROLLED
      for (int r = 0; r < radix; ++r) {
        const Value value = shared_.values[at(j + r * (n / radix))];
        const Number root = shared_.roots[r * turn];
        values[b * radix + r] = r == 0 ? value : value.times(root.real, root.imaginary);
      }
    }
  }

  /// The results of the last factor to their owners.
  template <int radix>
  PARTITA_EVERYWHERE void store(const Several<Value, kept>& values) const {
    const auto scale = static_cast<Real>(what_.scale);
    PARTITA_UNROLLED
    for (int b = 0; b < kept / radix; ++b) {
      PARTITA_UNROLLED
      for (int r = 0; r < radix; ++r) {
        const int position = first_ + b * Factors::threads_a_line + r * (n / radix);
        const Value value = values[b * radix + r].times(scale);
        write(position, what_.backward ? value.swapped() : value);
      }
    }
  }

  /// The results of the last factor into shared memory, where `store_halves` finds those of other threads.
  template <int radix>
  PARTITA_EVERYWHERE void put_results(const Several<Value, kept>& values) {
    PARTITA_UNROLLED
    for (int b = 0; b < kept / radix; ++b) {
      PARTITA_UNROLLED
      for (int r = 0; r < radix; ++r)
        shared_.values[at(first_ + b * Factors::threads_a_line + r * (n / radix))] = values[b * radix + r];
    }
  }

  PARTITA_EVERYWHERE void store_halves() const {
    PARTITA_UNROLLED
    for (int i = 0; i < kept / 2; ++i) store_half(first_ + i * Factors::threads_a_line);
    if (first_ == 0) store_half(n / 2);
  }

  /// Of a block without `put`: owners' offsets.
  PARTITA_EVERYWHERE void put_owners() {
    if (thread_ < what_.pieces) put_owner(thread_);
  }

 private:
  static constexpr std::int64_t number_bytes = sizeof(Number);
  static constexpr std::int64_t from_bytes = of_reals ? sizeof(Real) : sizeof(Number);

  PARTITA_EVERYWHERE int at(int place) const {
    return column_ * Factors::room + place + (place >> Factors::skew);
  }

  /// Where the tile's lines begin.
  PARTITA_EVERYWHERE void find(std::int64_t tile) {
    constexpr int lines = Factors::columns * Value::lines;
    const auto tiles = static_cast<std::uint32_t>((what_.neighbours + lines - 1) / lines);
    auto number = static_cast<std::uint32_t>(tile);
    group_ = number / tiles;
    first_line_ = static_cast<std::int64_t>(number - group_ * tiles) * lines;
    line_ = first_line_ + column();
    from_ = line_ * what_.from_apart;
    number = group_;
    for (int l = what_.loops - 1; l >= 0; --l) {
      const auto count = static_cast<std::uint32_t>(what_.counts[l]);
      const std::uint32_t outer = number / count;
      from_ += (number - outer * count) * what_.from_strides[l];
      number = outer;
    }
  }

  PARTITA_EVERYWHERE void put_owner(int owner) {
    const LineTransform::Piece& piece = what_.piece[owner];
    std::int64_t offset = first_line_ * piece.apart;
    std::uint32_t number = group_;
    for (int l = what_.loops - 1; l >= 0; --l) {
      const auto count = static_cast<std::uint32_t>(what_.counts[l]);
      const std::uint32_t outer = number / count;
      offset += (number - outer * count) * piece.strides[l];
      number = outer;
    }
    targets_.owners[owner] = {offset * number_bytes, piece.apart * number_bytes};
  }

  /// If adjacent lines are contiguous, those of a value are, too; the last value may have only one line.
  PARTITA_EVERYWHERE bool side_by_side() const { return whole || wide_.to; }
  PARTITA_EVERYWHERE int column() const { return column_ * (side_by_side() ? Value::lines : 1); }
  PARTITA_EVERYWHERE int apart() const { return side_by_side() ? 1 : Factors::columns; }
  PARTITA_EVERYWHERE bool has_line(int i) const { return line_ + i * apart() < what_.neighbours; }

  PARTITA_EVERYWHERE Value read(const char* from) const {
    if constexpr (of_reals) return read_pairs(from);
    if (whole ? has_line(0) : wide_.from && wide_.to && has_line(Value::lines - 1))
      return *reinterpret_cast<const Value*>(from);
    Value value{};
    PARTITA_UNROLLED
    for (int i = 0; !whole && i < Value::lines; ++i) {
      if (!has_line(i)) continue;
      const std::int64_t offset = i * apart() * what_.from_apart * number_bytes;
      value.set_line(i, *reinterpret_cast<const Number*>(from + offset));
    }
    return value;
  }

  PARTITA_EVERYWHERE Value read_pairs(const char* from) const {
    Value value{};
    PARTITA_UNROLLED
    for (int i = 0; i < Value::lines; ++i) {
      if (!has_line(i)) continue;
      const char* const one = from + i * apart() * what_.from_apart * from_bytes;
      const char* const other = one + what_.from_pair * from_bytes;
      value.set_line(i, {*reinterpret_cast<const Real*>(one), *reinterpret_cast<const Real*>(other)});
    }
    return value;
  }

  /// Element k of both of a pair's.
  PARTITA_EVERYWHERE void store_half(int k) const {
    const Real half = static_cast<Real>(what_.scale) / 2;
    const Value here = shared_.values[at(k)], there = shared_.values[at((n - k) & (n - 1))].conjugate();
    write(k, (here + there).times(half));
    write(k, (here - there).times(half).swapped().conjugate(), what_.to_pair * number_bytes);
  }

  /// `beside`: bytes.
  PARTITA_EVERYWHERE void write(int position, const Value& value, std::int64_t beside = 0) const {
    const typename LineTargets<n>::Owner& owner = targets_.owners[targets_.owner[position]];
    char* const to = targets_.to[position] + owner.offset + beside;
    if (whole ? has_line(0) : wide_.to && has_line(Value::lines - 1)) {
      *reinterpret_cast<Value*>(to + column() * number_bytes) = value;
      return;
    }
    PARTITA_UNROLLED
    for (int i = 0; !whole && i < Value::lines; ++i) {
      if (has_line(i))
        *reinterpret_cast<Number*>(to + (column() + i * apart()) * owner.apart) = value.line(i);
    }
  }

  const LineTransform& what_;
  Shared& shared_;
  LineTargets<n>& targets_;
  int thread_;
  WideAccess wide_;
  int column_ = 0;
  int first_ = 0;  // of the thread's positions
  std::uint32_t group_ = 0;
  std::int64_t first_line_ = 0, line_ = 0, from_ = 0;
};

/// Tiles of all lines.
template <class Value, int n>
PARTITA_EVERYWHERE std::int64_t tiles_of(const LineTransform& what) {
  constexpr int lines = LineFactors<n>::columns * Value::lines;
  std::int64_t tiles = (what.neighbours + lines - 1) / lines;
  for (int l = 0; l < what.loops; ++l) tiles *= what.counts[l];
  return tiles;
}

/// What the last factor has made.
template <int radix, class Team>
PARTITA_EVERYWHERE void store_tile(Team& team) {
  using Thread = typename Team::Thread;
  using Values = typename Thread::Values&;
  if constexpr (Thread::of_reals) {
    team.meet();
    team.for_each([](Thread& thread, Values values) { thread.template put_results<radix>(values); });
    team.meet();
    team.for_each([](Thread& thread, Values) { thread.store_halves(); });
  } else {
    team.for_each([](Thread& thread, Values values) { thread.template store<radix>(values); });
  }
}

/// One tile: `meet` returns when all threads of the block have come; `for_each` calls its argument for each
/// of them, with the values that it keeps. All have called `prepare`.
template <int n, class Team>
PARTITA_EVERYWHERE void transform_tile(Team& team, std::int64_t tile) {
  using Thread = typename Team::Thread;
  using Factors = LineFactors<n>;
  using Values = typename Thread::Values&;
  constexpr int a = Factors::first, b = Factors::second, c = Factors::third;
  team.for_each([tile](Thread& thread, Values values) {
    thread.load(tile, values);
    Thread::template transform<a>(values);
  });
  team.meet();
  if constexpr (b == 1) {
    team.for_each([](Thread& thread, Values) { thread.put_owners(); });
    team.meet();
    store_tile<a>(team);
  } else {
    team.for_each([](Thread& thread, Values values) { thread.template put<a, 1>(values); });
    team.meet();
    team.for_each([](Thread& thread, Values values) {
      thread.template take<b, a>(values);
      Thread::template transform<b>(values);
    });
    if constexpr (c == 1) {
      store_tile<b>(team);
    } else {
      team.meet();
      team.for_each([](Thread& thread, Values values) { thread.template put<b, a>(values); });
      team.meet();
      team.for_each([](Thread& thread, Values values) {
        thread.template take<c, a * b>(values);
        Thread::template transform<c>(values);
      });
      store_tile<c>(team);
    }
  }
}

/// A block's share of the tiles.
template <int n, class Team>
PARTITA_EVERYWHERE void transform_tiles(Team& team, std::int64_t first, std::int64_t step,
                                        std::int64_t tiles) {
  using Thread = typename Team::Thread;
  team.for_each([](Thread& thread, typename Thread::Values&) { thread.prepare(); });
  for (std::int64_t tile = first; tile < tiles; tile += step) transform_tile<n>(team, tile);
}

}  // namespace partita::kernels::cuda
