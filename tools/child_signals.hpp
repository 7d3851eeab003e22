// Signals of a process that waits for others: what is meant for it reaches them too, and Ctrl-C ends them.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>

namespace partita::tools {

/// From here on SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are sent on to the processes of `start_child` and
/// `signal_children`, and so is SIGINT where `sends_interrupts`; without it, and besides, `interrupts`
/// counts. What this process was started to ignore it still ignores, and so do its children.
void pass_signals_on(bool sends_interrupts);

/// A process that calls `become`, which does not return. No signal is lost meanwhile.
pid_t start_child(const std::function<void()>& become);

/// In a child that is about to become another program: signals as that expects them. `interruptible`: without
/// it SIGINT is held back in the program, and in the ones that it starts, until these let it through.
void restore_signals(bool interruptible = true);

/// How often Ctrl-C was typed, or SIGINT sent.
int interrupts();

/// The exit code of a child when it has ended; 128 + signal where it was killed, as in a shell. `react` is
/// called when a signal has come, and about once a second after an interrupt.
int wait_for_child(pid_t child, const std::function<void()>& react = {});

/// What becomes of processes after an interrupt: first SIGINT; SIGTERM after 5 s or a second interrupt;
/// SIGKILL after 5 s more or a third one.
class Escalation {
 public:
  /// The signal that is due now; 0: none.
  int due();

 private:
  double first_ = -1;  // seconds of the steady clock
};

}  // namespace partita::tools
