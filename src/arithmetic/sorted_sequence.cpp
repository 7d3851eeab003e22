// Each rank sorts its elements, sends them between exact cuts, and merges what arrives.
#include "arithmetic/sorted_sequence.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <partita/collectives.hpp>

#include "arithmetic/sorted_cuts.hpp"
#include "array/array_state.hpp"
#include "kernels/host/merge.hpp"
#include "kernels/host/placed_keys.hpp"
#include "kernels/host/sort_any.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita::arithmetic {
namespace {

template <class T>
void reverse(void* elements, std::int64_t count) {
  std::reverse(static_cast<T*>(elements), static_cast<T*>(elements) + count);
}
void reverse(Dtype dtype, void* elements, std::int64_t count) {
  switch (size_of(dtype)) {
    case 1:
      return reverse<std::uint8_t>(elements, count);
    case 2:
      return reverse<std::uint16_t>(elements, count);
    case 4:
      return reverse<std::uint32_t>(elements, count);
    default:
      return reverse<std::uint64_t>(elements, count);
  }
}

/// The work of one call.
class SequenceSorter {
 public:
  SequenceSorter(const Context& context, const SequenceSort& what, const DividedSequence& sequence)
      : context_(context), what_(what), sequence_(sequence), rank_(static_cast<std::size_t>(context.rank())) {
    given_ = sequence.given[rank_ + 1] - sequence.given[rank_];
    wanted_ = sequence.wanted[rank_ + 1] - sequence.wanted[rank_];
  }

  void run() const {
    if (context_.size() == 1) return here([&] { sort_all(sequence_.mine, sequence_.result); });
    if (sequence_.given.back() <= sequence_.few) return sort_together();
    if (!what_.order) return sort_elements(sequence_, what_.descending, false);
    if (is_complex(sequence_.dtype)) return order_elements();
    if (size_of(sequence_.dtype) <= 4 && sequence_.given.back() < std::int64_t{1} << 32) return order_words();
    order_pairs();
  }

  /// The same where each rank has sorted its elements.
  void run_sorted() const {
    const auto bytes = static_cast<std::size_t>(given_ * size_of(sequence_.dtype));
    if (context_.size() == 1 && given_ > 0) std::memmove(sequence_.result, sequence_.mine, bytes);
    if (context_.size() == 1) return;
    if (sequence_.given.back() <= sequence_.few) return sort_together();
    const Array other = scratch(size_of(sequence_.dtype));
    distribute(sequence_.dtype, what_.descending, sequence_.mine, other.local().data);
  }

 private:
  /// What work of this rank alone throws is thrown on all ranks.
  template <class Work>
  void here(Work&& work) const {
    runtime::check_or_tell_all(*context_.state(), what_.operation, work);
  }

  /// Bytes on the symmetric heap, whose pages stay mapped: on each rank as many as the most that one has of
  /// elements or results. Collective.
  Array scratch(std::int64_t item) const {
    std::int64_t most = 1;
    for (const SequenceCuts* const cuts : {&sequence_.given, &sequence_.wanted})
      most = std::max(most, std::ranges::max(sizes_of(*cuts)));
    const Layout layout(Slab(0), {context_.size() * most * item}, context_.size());
    return arrays::allocate_on_heap(context_.state(), layout, Dtype::u8, Order::row_major,
                                    "scratch of a sort", SourcePlace::current());
  }

  /// All elements, as those of one rank.
  void sort_all(const void* elements, void* result) const {
    kernels::SortPass pass{.dtype = sequence_.dtype,
                           .descending = what_.descending,
                           .count = sequence_.given.back(),
                           .from = elements};
    (what_.order ? pass.order = static_cast<std::int64_t*>(result), result : pass.to = result);
    kernels::sort_any({pass});
  }

  /// Of few elements: each rank sorts all, and takes its part.
  void sort_together() const {
    const std::int64_t item = size_of(sequence_.dtype), made = what_.order ? 8 : item,
                       size = sequence_.given.back();
    std::vector<std::byte> all(static_cast<std::size_t>(size * item)),
        sorted(static_cast<std::size_t>(size * made));
    all_gather_v(context_, View::dense(const_cast<void*>(sequence_.mine), sequence_.dtype, {given_}),
                 View::dense(all.data(), sequence_.dtype, {size}), sizes_of(sequence_.given));
    here([&] { sort_all(all.data(), sorted.data()); });
    if (wanted_ > 0)
      std::memcpy(sequence_.result, sorted.data() + sequence_.wanted[rank_] * made,
                  static_cast<std::size_t>(wanted_ * made));
  }

  ExchangedElements cut(Dtype dtype, bool descending, const void* sorted) const {
    const auto part = sorted_on_host(dtype, descending, sorted, given_);
    return {context_, cut_parts(context_, part, sequence_.wanted, sizes_of(sequence_.given))};
  }

  /// Moves elements, of a dtype and so many in each of the sequence's.
  void exchange(const ExchangedElements& traffic, Dtype dtype, std::int64_t width, const void* from,
                void* to) const {
    const auto seen = [&](const void* data, std::int64_t count) {
      return View::dense(const_cast<void*>(data), dtype, {count, width});
    };
    all_to_all_v(context_, seen(from, given_), seen(to, wanted_), traffic.sent, traffic.received);
  }

  void sort_elements(const DividedSequence& sequence, bool descending, bool lower_bits_ordered) const {
    const Dtype dtype = sequence.dtype;
    const Array other = scratch(size_of(dtype));
    void* const arriving = other.local().data;
    std::unique_ptr<std::byte[]> own;
    void* sorted = sequence.result;
    here([&] {
      if (given_ > wanted_) {
        own = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(given_ * size_of(dtype)));
        sorted = own.get();
      }
      const kernels::SortPass pass{
          .dtype = dtype, .descending = descending, .count = given_, .from = sequence.mine, .to = sorted};
      kernels::sort_any({pass, arriving, lower_bits_ordered});
    });
    distribute(dtype, descending, sorted, arriving);
  }

  /// Of this rank's sorted elements, which may be in the memory of the result.
  void distribute(Dtype dtype, bool descending, const void* sorted, void* arriving) const {
    const ExchangedElements traffic = cut(dtype, descending, sorted);
    exchange(traffic, dtype, 1, sorted, arriving);
    here([&] { merge(dtype, descending, arriving, traffic.received, sequence_.result); });
  }

  void merge(Dtype dtype, bool descending, void* runs, std::vector<std::int64_t> counts, void* to) const {
    if (is_complex(dtype))
      return kernels::sort_any(
          {{.dtype = dtype, .descending = descending, .count = wanted_, .from = runs, .to = to}});
    if (descending) {  // ascending runs from the end
      reverse(dtype, runs, wanted_);
      std::ranges::reverse(counts);
    }
    kernels::merge_runs(dtype, runs, counts, to);
    if (descending) reverse(dtype, to, wanted_);
  }

  /// Keys with positions, as integers whose order is that of the elements, equal ones by position.
  void order_words() const {
    std::unique_ptr<std::uint64_t[]> words;
    here([&] {
      words = std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(given_));
      kernels::write_words(placed(), words.get());
    });
    DividedSequence sequence = sequence_;
    sequence.dtype = Dtype::u64;
    sequence.mine = words.get();
    sort_elements(sequence, false, true);
    auto* const result = static_cast<std::uint64_t*>(sequence_.result);
    for (std::int64_t i = 0; i < wanted_; ++i) result[i] &= 0xFFFFFFFF;
  }

  kernels::PlacedElements placed() const {
    return {sequence_.dtype, what_.descending, sequence_.mine, given_, sequence_.given[rank_]};
  }

  void order_pairs() const {
    constexpr std::int64_t item = sizeof(kernels::PlacedKey);
    const Array other = scratch(item);
    auto* const arriving = static_cast<kernels::PlacedKey*>(other.local().data);
    std::unique_ptr<kernels::PlacedKey[]> own;
    here([&] {
      own = std::make_unique_for_overwrite<kernels::PlacedKey[]>(
          static_cast<std::size_t>(std::max(given_, wanted_)));
      kernels::sort_placed(placed(), own.get(), arriving);
    });
    const std::span<const kernels::PlacedKey> sorted(own.get(), static_cast<std::size_t>(given_));
    const auto count = [sorted](std::span<const kernels::OrderKey> keys, std::int64_t* found) {
      std::vector<std::uint64_t> first;
      for (const kernels::OrderKey& key : keys) first.push_back(key[0]);
      kernels::count_below(sorted, first, found);
    };
    const SortedPart part{{Dtype::u64, false}, given_, count};
    const ExchangedElements traffic(context_,
                                    cut_parts(context_, part, sequence_.wanted, sizes_of(sequence_.given)));
    exchange(traffic, Dtype::u64, 2, own.get(), arriving);
    kernels::merge_places(arriving, traffic.received, own.get(),
                          static_cast<std::int64_t*>(sequence_.result));
  }

  /// By comparisons, here and again of what arrives.
  void order_elements() const {
    const std::int64_t item = size_of(sequence_.dtype);
    const auto size = static_cast<std::size_t>(std::max(given_, wanted_));
    std::vector<std::byte> sorted, arriving;
    std::vector<std::int64_t> order, places;
    kernels::SortPass pass{.dtype = sequence_.dtype, .descending = what_.descending, .count = given_};
    here([&] {
      for (std::vector<std::byte>* const one : {&sorted, &arriving})
        one->resize(size * static_cast<std::size_t>(item));
      for (std::vector<std::int64_t>* const one : {&order, &places}) one->resize(size);
      pass.from = sequence_.mine;
      pass.to = sorted.data();
      pass.order = order.data();
      kernels::sort_any({pass});
    });
    for (std::int64_t& place : order) place += sequence_.given[rank_];
    const ExchangedElements traffic = cut(sequence_.dtype, what_.descending, sorted.data());
    exchange(traffic, sequence_.dtype, 1, sorted.data(), arriving.data());
    exchange(traffic, Dtype::i64, 1, order.data(), places.data());
    here([&] {
      pass.count = wanted_;
      pass.from = arriving.data();
      pass.to = nullptr;
      kernels::sort_any({pass});
    });
    auto* const result = static_cast<std::int64_t*>(sequence_.result);
    for (std::int64_t i = 0; i < wanted_; ++i)
      result[i] = places[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
  }

  const Context& context_;
  const SequenceSort& what_;
  const DividedSequence& sequence_;
  std::size_t rank_;
  std::int64_t given_, wanted_;  // elements of this rank
};

}  // namespace

void sort_sequence(const Context& context, const SequenceSort& what, const DividedSequence& sequence) {
  SequenceSorter(context, what, sequence).run();
}

void exchange_sorted_parts(const Context& context, const SequenceSort& what,
                           const DividedSequence& sequence) {
  SequenceSorter(context, what, sequence).run_sorted();
}

}  // namespace partita::arithmetic

namespace partita {

void exchange_sorted(const Context& context, const View& sorted, const View& destination, bool descending) {
  using namespace arithmetic;
  constexpr std::string_view operation = "exchange_sorted";
  const runtime::PublicCall call(operation);
  context.state()->require_usable(operation);
  runtime::collectively(*context.state(), operation, [&]() -> std::vector<Fact> {
    check_sequence(operation, "elements", sorted);
    check_sequence(operation, "results", destination);
    check(!destination.read_only, "exchange_sorted: the destination is read-only");
    check(destination.dtype == sorted.dtype, "exchange_sorted: the elements are {}, and the destination {}",
          name(sorted.dtype), name(destination.dtype));
    return {{"dtype", std::string(name(sorted.dtype))}, {"descending", descending ? "true" : "false"}};
  });
  DividedSequence sequence{.dtype = sorted.dtype,
                           .mine = sorted.data,
                           .given = cuts_of(sizes_of_ranks(context, sorted.extents[0])),
                           .wanted = cuts_of(sizes_of_ranks(context, destination.extents[0])),
                           .result = destination.data};
  check(sequence.given.back() == sequence.wanted.back(),
        "exchange_sorted: the ranks have {} elements, but their destinations {}", sequence.given.back(),
        sequence.wanted.back());
  exchange_sorted_parts(context, {operation, false, descending}, sequence);
}

}  // namespace partita
