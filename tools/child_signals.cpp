#include "tools/child_signals.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace partita::tools {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Read by the handler; changed while its signals are blocked. 0: has ended.
std::vector<pid_t> children;
bool interrupts_are_sent = false;
volatile std::sig_atomic_t interrupts_seen = 0;
// Which of `passed_on` have come: a child that is started later gets them too.
std::array<volatile std::sig_atomic_t, passed_on.size()> seen{};
volatile std::sig_atomic_t of_terminal = 0;

// One that is stopped would not see that it is to end, and would be killed before it can remove its files.
void send_to(pid_t child, int signal) {
  kill(child, signal);
  if (signal == SIGINT || signal == SIGTERM) kill(child, SIGCONT);
}

void pass_on(int signal, siginfo_t* info, void*) {
  const int interrupted = errno;
  bool sent = true;
  for (std::size_t i = 0; i < passed_on.size(); ++i)
    if (passed_on[i] == signal) seen[i] = 1;
  if (signal == SIGINT) {
    if (info->si_code > 0) of_terminal = 1;
    // The terminal sends it to the children as well. Who was sent one after that is not to get two.
    sent = interrupts_are_sent && of_terminal == 0;
    interrupts_seen = interrupts_seen + 1;
    alarm(1);
  }
  for (const pid_t child : children) {
    if (child > 0 && sent) send_to(child, signal);
  }
  errno = interrupted;
}

void wake_up(int) {
  alarm(1);  // who waits looks once a second how long ago the interrupt was
}

bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

sigset_t set_of_passed() {
  sigset_t set{};
  sigemptyset(&set);
  for (const int signal : passed_on) sigaddset(&set, signal);
  return set;
}

// While it lives, signals wait.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    const sigset_t held = set_of_passed();
    sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeldBack() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_{};
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void pass_signals_on(bool sends_interrupts) {
  interrupts_are_sent = sends_interrupts;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO;
  for (const int signal : passed_on) {
    if (!is_ignored(signal)) sigaction(signal, &action, nullptr);
  }
  struct sigaction waking {};
  waking.sa_handler = wake_up;
  sigaction(SIGALRM, &waking, nullptr);
  const sigset_t set = set_of_passed();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

pid_t start_child(const std::function<void()>& become) {
  const SignalsHeldBack held;
  const pid_t child = fork();
  if (child < 0)
    throw std::runtime_error(fmt::format("no process could be started: {}", std::strerror(errno)));
  if (child == 0) become();
  children.push_back(child);
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    const bool sent = seen[i] != 0 && (passed_on[i] != SIGINT || interrupts_are_sent);
    if (sent) kill(child, passed_on[i]);
  }
  return child;
}

void restore_signals(bool interruptible) {
  for (const int signal : passed_on) {
    if (!is_ignored(signal)) ::signal(signal, SIG_DFL);
  }
  sigset_t set = set_of_passed();
  if (!interruptible) sigdelset(&set, SIGINT);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  if (interruptible) return;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

int interrupts() {
  return interrupts_seen;
}

int wait_for_child(pid_t child, const std::function<void()>& react) {
  siginfo_t ended{};
  if (react && interrupts() > 0) react();
  // It stays a child until the handler has forgotten it: its number is not that of another process meanwhile.
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0) {
    if (errno != EINTR) return 1;
    if (react && interrupts() > 0) react();
  }
  const SignalsHeldBack held;
  std::replace(children.begin(), children.end(), child, 0);
  int status = 0;
  if (waitpid(child, &status, 0) < 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Escalation::due() {
  constexpr double patience = 5;
  const int count = interrupts();
  if (count == 0) return 0;
  if (first_ < 0) first_ = now();
  const double waited = now() - first_;
  if (count > 2 || waited >= 2 * patience) return SIGKILL;
  return count > 1 || waited >= patience ? SIGTERM : SIGINT;
}

}  // namespace partita::tools
