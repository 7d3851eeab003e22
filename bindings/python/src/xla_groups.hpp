// The contexts of compiled programs, which know them by number.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/operand.hpp>
#include <string>
#include <utility>

#include "xla_call.hpp"

namespace partita::python::xla {

/// A context, and what its calls have said of arrays. XLA has several threads; a context belongs to one at a
/// time.
class Group {
 public:
  explicit Group(const Context& context) : context_(context) {}

  const Context& context() const { return context_; }
  std::mutex& mutex() { return mutex_; }

  /// A buffer as a distributed array: the call's attribute NAME is its distribution's text, NAME_shape its
  /// global shape. Nothing is exchanged.
  Array array(const Call& call, const std::string& name, const View& local);
  /// What `array` needs to know of it.
  const Operand& operand(const Call& call, const std::string& name, const View& local);

  /// How often calls have failed, and how the last one did. Thread-safe, beside a call that runs, too.
  std::pair<std::int64_t, std::string> failures() const;
  void note_failure(std::string how);

  /// What calls of this identity are planned with once; `make` is collective. All ranks make the same calls,
  /// so all keep the same plans: the most recently used.
  template <class Plan, class Make>
  Plan& plan(const std::string& identity, const Make& make) {
    std::shared_ptr<void> found = find(identity);
    if (!found) {
      found = std::make_shared<Plan>(make());
      keep(identity, found);
    }
    return *std::static_pointer_cast<Plan>(found);
  }

 private:
  std::shared_ptr<void> find(const std::string& identity);
  void keep(const std::string& identity, std::shared_ptr<void> plan);

  Context context_;
  std::mutex mutex_;
  std::map<std::string, Operand> operands_;                         // texts are read slowly
  std::list<std::pair<std::string, std::shared_ptr<void>>> plans_;  // most recently used first
  mutable std::mutex of_failures_;
  std::pair<std::int64_t, std::string> failures_;
};

/// A number for a context, from now on. Thread-safe, as the others.
std::int64_t add_group(const Context& context);
/// Programs that still know it get an ArgumentError.
void forget_group(std::int64_t number);
/// Waits until the device has done what the group's calls have put into streams; throws what went wrong there
/// (`Context::synchronize`). Nothing to do on the CPU, or for a group that was forgotten.
void synchronize_group(std::int64_t number);
/// `Group::failures`; none of a group that was forgotten.
std::pair<std::int64_t, std::string> failures_of_group(std::int64_t number);
/// By the call's attribute "group".
std::shared_ptr<Group> group_of(const Call& call);

}  // namespace partita::python::xla
