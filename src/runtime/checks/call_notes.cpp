#include "runtime/checks/call_notes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "runtime/checks/array_number.hpp"

namespace partita::runtime {

// The number is written first and read back last: a reader that gets the same one on both sides has one note.
// Each word is released after the 0, so a reader that gets a new word gets no old number after it.
// (ThreadSanitizer knows no fences.)
void CallNotes::note(std::uint64_t number, bool captured, const ExecutionNote& note) {
  Slot& slot = slots_[captured ? 1 : 0][number % latest];
  slot.number.store(0, std::memory_order_relaxed);
  auto* word = slot.words.data();
  const auto put = [&](std::uint64_t value) { (word++)->store(value, std::memory_order_release); };
  put(note.plan);
  for (const std::uint64_t array : note.arrays) put(array);
  for (const double factor : note.factors) put(std::bit_cast<std::uint64_t>(factor));
  slot.number.store(number, std::memory_order_release);
}

std::optional<ExecutionNote> CallNotes::read(std::uint64_t number, bool captured) const {
  const Slot& slot = slots_[captured ? 1 : 0][number % latest];
  if (number == 0 || slot.number.load(std::memory_order_acquire) != number) return std::nullopt;
  const auto* word = slot.words.data();
  const auto take = [&] { return (word++)->load(std::memory_order_acquire); };
  ExecutionNote note;
  note.plan = take();
  for (std::uint64_t& array : note.arrays) array = take();
  for (double& factor : note.factors) factor = std::bit_cast<double>(take());
  if (slot.number.load(std::memory_order_acquire) != number) return std::nullopt;
  return note;
}

void CallNotes::keep(std::uint64_t plan, std::string_view operation, std::span<const Fact> facts) {
  const std::lock_guard lock(mutex_);
  std::erase_if(plans_, [&](const Plan& one) { return one.hash == plan; });
  if (plans_.size() == most_plans) plans_.pop_front();
  plans_.push_back({plan, std::string(operation), {facts.begin(), facts.end()}});
}

std::optional<Report> CallNotes::execution(std::uint64_t number, bool captured) const {
  const std::optional<ExecutionNote> note = read(number, captured);
  if (!note) return std::nullopt;
  Report report;
  {
    const std::lock_guard lock(mutex_);
    const auto plan = std::ranges::find(plans_, note->plan, &Plan::hash);
    if (plan == plans_.end()) return std::nullopt;
    report.operation = plan->operation;
    report.facts = plan->facts;
  }
  std::string arrays;
  for (const std::uint64_t array : note->arrays) {
    if (array != 0) arrays += (arrays.empty() ? "" : " and ") + array_text(array);
  }
  if (!arrays.empty()) report.facts.push_back({"the operands", arrays + " of the context"});
  const auto& factors = note->factors;
  report.facts.push_back({"factors", fmt::format("alpha {}{:+}i, beta {}{:+}i, scale {}", factors[0],
                                                 factors[1], factors[2], factors[3], factors[4])});
  return report;
}

CallNotes::InCheck::InCheck(CallNotes& notes, const std::function<Report()>& report)
    : notes_(notes), outer_(notes.check_.exchange(&report)) {}

CallNotes::InCheck::~InCheck() {
  notes_.check_ = outer_;
}

std::optional<Report> CallNotes::check() const {
  const std::function<Report()>* const report = check_;
  return report == nullptr ? std::nullopt : std::optional<Report>((*report)());
}

}  // namespace partita::runtime
