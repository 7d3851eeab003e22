// Detection of different executions on ranks of other nodes, for executions that the host does not observe.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/checks/announcement.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

struct Runtime;

/// Which ranks announce an execution to this one, and to which it announces its own.
struct Greeted {
  std::vector<int> senders, receivers;
};

/// Those that an execution has, and all ranks of other nodes: what reaches this rank may have passed through
/// several ranks, within this execution and before, and no host looks at it on the way. In contexts of more
/// than 64 ranks only those that the execution has.
Greeted greeted(const Runtime& context, std::vector<int> senders, std::vector<int> receivers);

/// With each execution a rank sends others the number and the chain of what it has executed, and compares
/// what others send. No stream waits for a greeting, and a rank that gives work to its device only for those
/// that are 64 executions late. Used by the thread that uses the context.
class Greetings {
 public:
  explicit Greetings(Runtime& context) : context_(context) {}
  /// What is still under way stays until the process ends.
  ~Greetings();
  Greetings(const Greetings&) = delete;
  Greetings& operator=(const Greetings&) = delete;

  /// An execution of this rank, in the order of its executions: greets the receivers, and the senders greet
  /// it. Throws DisagreementError.
  void greet(const Executed& execution, const Greeted& ranks, std::string_view operation);
  /// Compares what has come. Throws DisagreementError.
  void look(std::string_view operation);
  /// All executions have ended: waits for all greetings, and compares them. Only then it is known that what
  /// they have left is of this execution.
  void resolve(std::string_view operation);
  /// Who has not come to executions of this rank, as far as it knows.
  std::vector<int> late() const;

 private:
  static constexpr std::uint64_t most = 64;  // executions
  struct Sender {
    int peer = -1;
    MessageId message = -1;
    Executed executed;
  };
  struct Slot {
    Executed mine;
    std::vector<Sender> senders;
    std::vector<MessageId> sent;
  };
  struct Slots {
    std::array<Slot, most> slots;
  };

  Slot& slot(std::uint64_t number) { return slots_->slots[number % most]; }
  bool have_come(Slot& slot, std::string_view operation);
  bool have_left(Slot& slot);
  template <class Ready>
  void wait(std::string_view operation, Ready&& ready);

  Runtime& context_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::uint64_t first_ = 0, last_ = 0;  // executions whose greetings are under way: [first_, last_)
};

/// The greetings of the context, created at first use.
Greetings& greetings_of(Runtime& context);

}  // namespace partita::runtime
