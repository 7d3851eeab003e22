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
#include <vector>

#include "xla_call.hpp"

namespace partita::python::xla {

/// A context, and what its calls have said of arrays. XLA has several threads; a context belongs to one at a
/// time.
class Group {
 public:
  Group(const Context& context, bool is_whole) : context_(context), is_whole_(is_whole) {}

  const Context& context() const { return context_; }
  /// All ranks are devices of this process, where one program makes the calls of all of them: they are alike.
  bool is_whole() const { return is_whole_; }
  std::mutex& mutex() { return mutex_; }

  /// A buffer as a distributed array: the call's attribute NAME is its distribution's text, NAME_shape its
  /// global shape. With an attribute NAME_padded, buffers have the same extents on all ranks, and the rank's
  /// part is at their beginning along each dimension. Nothing is exchanged.
  Array array(const Call& call, const std::string& name, const View& local);
  /// What `array` needs to know of it.
  const Operand& operand(const Call& call, const std::string& name, const View& local);

  /// How often calls have failed, and how the last one did. Thread-safe, also during a call.
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
  bool is_whole_;
  std::mutex mutex_;
  std::map<std::string, Operand> operands_;                         // texts are read slowly
  std::list<std::pair<std::string, std::shared_ptr<void>>> plans_;  // most recently used first
  mutable std::mutex of_failures_;
  std::pair<std::int64_t, std::string> failures_;
};

/// A number for the contexts of this process's ranks of a group, one per device, by local rank. Thread-safe,
/// as the other functions.
std::int64_t add_group(const std::vector<Context>& contexts);
/// Programs that still know it get an ArgumentError.
void forget_group(std::int64_t number);
/// Waits until the devices have completed what the group's calls have enqueued; throws the first error that
/// occurred there (`Context::synchronize`). Returns at once on the CPU, and for a group that was forgotten.
void synchronize_group(std::int64_t number);
/// `Group::failures` of all ranks of this process; none for a group that was forgotten.
std::pair<std::int64_t, std::string> failures_of_group(std::int64_t number);
/// That of the call's attribute "group", and of the device on which the call runs if this process has several
/// ranks of the group.
std::shared_ptr<Group> group_of(const Call& call);

}  // namespace partita::python::xla
