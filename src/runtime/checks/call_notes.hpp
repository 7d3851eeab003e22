// What this rank executes and checks, in words, for the error that names both sides where ranks differ.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <partita/fact.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checks/difference.hpp"

namespace partita::runtime {

/// What one execution was of, besides its operation.
struct ExecutionNote {
  std::uint64_t plan = 0;                    ///< as `keep` was given it
  std::array<std::uint64_t, 4> arrays = {};  ///< numbers of the operands (Array::State::number); 0: unknown
  std::array<double, 5> factors = {};        ///< alpha, beta (real and imaginary parts) and scale
};

/// The latest executions of one rank, the latest plans in words, and the collective check that it is in.
/// Notes cost an execution some stores; texts are made only for an error. One thread writes, any thread
/// reads.
class CallNotes {
 public:
  CallNotes() = default;
  CallNotes(const CallNotes&) = delete;
  CallNotes& operator=(const CallNotes&) = delete;

  /// `number`: of the execution or, where `captured`, of the capture.
  void note(std::uint64_t number, bool captured, const ExecutionNote& note);
  /// What the plan with this hash does, alike on all ranks. The latest `most_plans` are kept.
  void keep(std::uint64_t plan, std::string_view operation, std::span<const Fact> facts);
  /// Nothing: never noted, or too long ago.
  std::optional<Report> execution(std::uint64_t number, bool captured) const;

  using Arrays = decltype(ExecutionNote::arrays);
  /// While it lives, what the rank executes is of these arrays, of which the executor sees views only.
  class OfArrays {
   public:
    OfArrays(CallNotes& notes, const Arrays& arrays) : notes_(notes), outer_(notes.arrays_) {
      notes.arrays_ = arrays;
    }
    ~OfArrays() { notes_.arrays_ = outer_; }
    OfArrays(const OfArrays&) = delete;
    OfArrays& operator=(const OfArrays&) = delete;

   private:
    CallNotes& notes_;
    Arrays outer_;
  };
  const Arrays& arrays() const { return arrays_; }

  /// While it lives, the rank is in a check of all ranks, in which it says what `report` gives.
  class InCheck {
   public:
    InCheck(CallNotes& notes, const std::function<Report()>& report);
    ~InCheck();
    InCheck(const InCheck&) = delete;
    InCheck& operator=(const InCheck&) = delete;

   private:
    CallNotes& notes_;
    const std::function<Report()>* outer_;
  };
  /// Of the check that the rank is in. By the thread that uses the context.
  std::optional<Report> check() const;
  bool is_in_check() const { return check_.load(std::memory_order_relaxed) != nullptr; }

 private:
  static constexpr std::size_t latest = 64;  // executions
  static constexpr std::size_t most_plans = 256;
  static constexpr std::size_t word_count = 1 + std::tuple_size_v<decltype(ExecutionNote::arrays)> +
                                            std::tuple_size_v<decltype(ExecutionNote::factors)>;
  struct Slot {
    std::atomic<std::uint64_t> number{0};
    std::array<std::atomic<std::uint64_t>, word_count> words{};
  };
  struct Plan {
    std::uint64_t hash = 0;
    std::string operation;
    std::vector<Fact> facts;
  };
  std::optional<ExecutionNote> read(std::uint64_t number, bool captured) const;

  std::array<std::array<Slot, latest>, 2> slots_;  // of executions, of captures
  mutable std::mutex mutex_;                       // of the plans
  std::deque<Plan> plans_;                         // the latest last
  std::atomic<const std::function<Report()>*> check_{nullptr};
  Arrays arrays_ = {};
};

}  // namespace partita::runtime
