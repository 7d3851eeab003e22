// The contexts of compiled programs, which know them by number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <partita/array.hpp>
#include <partita/context.hpp>
#include <partita/operand.hpp>
#include <string>

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
  /// global shape. On the host nothing is exchanged.
  Array array(const Call& call, const std::string& name, const View& local);

 private:
  const Operand& operand(const Call& call, const std::string& name, Dtype dtype);

  Context context_;
  std::mutex mutex_;
  std::map<std::string, Operand> operands_;  // texts are read slowly
};

/// A number for a context, from now on. Thread-safe, as the next two.
std::int64_t add_group(const Context& context);
/// Programs that still know it get an ArgumentError.
void forget_group(std::int64_t number);
/// By the call's attribute "group".
std::shared_ptr<Group> group_of(const Call& call);

}  // namespace partita::python::xla
