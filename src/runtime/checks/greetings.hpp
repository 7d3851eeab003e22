// Detection of different executions on ranks of other nodes, for executions that the host does not observe.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/checks/announcement.hpp"
#include "runtime/groups/process_group.hpp"

namespace partita::runtime {

struct Runtime;

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

  /// An execution of this rank, in the order of its executions: greets `receivers`, and `senders` greet it.
  /// `must_have_begun`: it cannot end before the senders have begun it. Throws DisagreementError.
  void greet(const Executed& execution, std::span<const int> senders, std::span<const int> receivers,
             bool must_have_begun, std::string_view operation);
  /// Compares what has come. Throws DisagreementError.
  void look(std::string_view operation);
  /// All executions have ended: waits for the greetings of those that must have begun, and compares them.
  void settle(std::string_view operation);
  /// Who has not come to executions that cannot end before, as far as this rank has heard.
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
    bool must_have_begun = false;
  };
  struct Slots {
    std::array<Slot, most> slots;
  };

  Slot& slot(std::uint64_t number) { return slots_->slots[number % most]; }
  bool have_come(Slot& slot, std::string_view operation);
  bool have_left(Slot& slot);
  template <class Ready>
  void wait(int peer, std::string_view operation, Ready&& ready);

  Runtime& context_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::uint64_t first_ = 0, last_ = 0;  // executions whose greetings are under way: [first_, last_)
};

/// The greetings of the context, created at first use.
Greetings& greetings_of(Runtime& context);

}  // namespace partita::runtime
