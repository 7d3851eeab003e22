#include "runtime/checks/public_call.hpp"

#include <atomic>

#include "runtime/checks/difference.hpp"

namespace partita::runtime {
namespace {

thread_local std::string_view outermost;
std::atomic<std::string (*)()> of_binding = nullptr;

}  // namespace

PublicCall::PublicCall(std::string_view name) noexcept : is_outermost_(outermost.empty()) {
  if (is_outermost_) outermost = name;
}

PublicCall::~PublicCall() {
  if (is_outermost_) outermost = {};
}

std::string public_call() {
  if (auto* const name = of_binding.load()) {
    if (std::string call = name(); !call.empty()) return call;
  }
  return std::string(outermost);
}

void note_public_call(Report& report) {
  std::string call = public_call();
  if (call.empty()) call = report.operation;
  report.facts.insert(report.facts.begin(), {of_the_program, std::move(call)});
}

void name_public_calls_by(std::string (*name)()) noexcept {
  of_binding = name;
}

}  // namespace partita::runtime
