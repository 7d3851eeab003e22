#include "tools/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <partita/device_report.hpp>
#include <partita/machine_report.hpp>

#include "tools/child_signals.hpp"
#include "tools/command_line.hpp"
#include "tools/connected_ranks.hpp"
#include "tools/subcommand.hpp"
#include "tools/terminal.hpp"

namespace partita::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_variable = "PARTITA_JOB";

[[noreturn]] void become(char** words, bool interruptible = true) {
  restore_signals(interruptible);
  execvp(words[0], words);
  const int code = errno == ENOENT ? 127 : 126;
  const std::string line = fmt::format("partita: {}: {}", words[0], std::strerror(errno));
  report_failure(line);
  _exit(code);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Gone with all that is in it when the job is over.
class JobFolder {
 public:
  JobFolder() {
    std::string pattern = (fs::temp_directory_path() / "partita-job-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error(fmt::format("no temporary folder {}: {}", pattern, std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~JobFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Open MPI's launcher reports in separate lines (of its library PMIx: "PMIX ERROR: ...") that a rank ended.
// While this lives they are written to a file of the job; the ranks' stderr is another descriptor. For other
// launchers, and if the user has chosen their destination, nothing is changed.
class LauncherNoise {
 public:
  LauncherNoise(const std::string& folder, LauncherKind kind) : path_(folder + "/" + noise_file) {
    if (kind != LauncherKind::open_mpi || std::getenv(variable) != nullptr) return;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): inherited, so not O_CLOEXEC
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (descriptor_ >= 0) setenv(variable, std::to_string(descriptor_).c_str(), 1);
  }
  ~LauncherNoise() {
    if (descriptor_ < 0) return;
    unsetenv(variable);
    close(descriptor_);
  }
  LauncherNoise(const LauncherNoise&) = delete;
  LauncherNoise& operator=(const LauncherNoise&) = delete;

  // For a launcher that has failed by itself: then this is all there is to know.
  void print() const {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) fmt::print(stderr, "{}\n", line);
  }
  // In a rank: the descriptor is the launcher's alone.
  static void forget(const std::string& folder) {
    if (fs::exists(folder + "/" + noise_file)) unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "PMIX_OUTPUT_STDERR_FD";
  static constexpr const char* noise_file = "launcher.stderr";
  std::string path_;
  int descriptor_ = -1;
};

// What the ranks left. One on another machine leaves nothing: 0, and then the launcher's word counts.
std::vector<int> codes_in(const std::string& folder, int ranks) {
  std::vector<int> codes(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string base = fmt::format("{}/{}.", folder, rank);
    if (!fs::exists(base + "started")) continue;
    const std::string text = first_line_of(base + "code");
    int& code = codes[static_cast<std::size_t>(rank)];
    code = text.empty() ? 128 + SIGKILL : 0;  // the process that would have written it has ended
    std::from_chars(text.data(), text.data() + text.size(), code);
  }
  return codes;
}

// The code of the lowest rank that failed; 0: none. Its words are printed.
int judge(const std::string& folder, const std::vector<int>& codes) {
  int worst = 0;
  std::string message;
  for (std::size_t rank = 0; rank < codes.size(); ++rank) {
    const int code = codes[rank];
    if (worst == 0) worst = code;
    if (message.empty()) message = first_line_of(fmt::format("{}/{}.error", folder, rank));
    if (message.empty() && code > 128 && code < 128 + 65) {
      message = fmt::format("partita: rank {} was ended by signal {} ({})", rank, code - 128,
                            strsignal(code - 128));
    }
  }
  if (!message.empty()) fmt::print(stderr, "{}\n", message);
  return worst;
}

// The machine, and what numbers of processes mean on it.
std::string this_machine() {
  std::error_code ignored;
  return fmt::format("{} {}", first_line_of("/proc/sys/kernel/random/boot_id"),
                     fs::read_symlink("/proc/self/ns/pid", ignored).string());
}

// The processes that run ranks on this machine and have not ended. A launcher passes interrupts on or not,
// so they are sent straight to these.
class RanksHere {
 public:
  RanksHere(std::string folder, int ranks)
      : folder_(std::move(folder)), signalled_(static_cast<std::size_t>(ranks), 0) {}

  /// Whether all ranks are on this machine: then the launcher needs no signal.
  bool send(int signal) {
    bool all_here = true;
    for (std::size_t rank = 0; rank < signalled_.size(); ++rank) {
      const std::string base = fmt::format("{}/{}.", folder_, rank);
      const pid_t process = process_of(base);
      all_here = all_here && process > 0;
      if (process <= 0 || signalled_[rank] == signal || fs::exists(base + "code")) continue;
      kill(process, signal);
      signalled_[rank] = signal;
    }
    return all_here;
  }

 private:
  /// 0: it is not on this machine, or has not started.
  pid_t process_of(const std::string& base) const {
    const std::string started = first_line_of(base + "started");
    pid_t process = 0;
    const auto [end, error] = std::from_chars(started.data(), started.data() + started.size(), process);
    const bool is_here = error == std::errc{} && *end == ' ' && std::string(end + 1) == machine_;
    return is_here ? process : 0;
  }

  std::string folder_;
  std::string machine_ = this_machine();
  std::vector<int> signalled_;  // by rank, the signal that was sent last
};

// Why the ranks have ended, where a user has interrupted them, and not because of what they have done.
int judge_unless_interrupted(const std::string& folder, const std::vector<int>& codes) {
  if (interrupts() == 0) return judge(folder, codes);
  fmt::print(stderr, "{}partita: interrupted\n", isatty(STDERR_FILENO) != 0 ? "\n" : "");
  return 128 + SIGINT;
}

int run_connected(const std::string& folder, int ranks, std::vector<std::string> program) {
  setenv(folder_variable, folder.c_str(), 1);
  std::vector<char*> words = pointers_to(program);
  std::vector<pid_t> alive = start_connected_ranks(ranks, [&words] { become(words.data()); });
  Escalation escalation;
  int sent = SIGINT;  // by the handler, or the terminal
  const auto react = [&] {
    const int due = escalation.due();
    if (due == 0 || due == sent) return;
    for (const pid_t process : alive) {
      if (process > 0) kill(process, due);
    }
    sent = due;
  };
  std::vector<int> codes;
  for (pid_t& process : alive) {
    codes.push_back(wait_for_child(process, react));
    process = 0;
  }
  return judge_unless_interrupted(folder, codes);
}

// The launcher's exit code. Interrupts and what follows them are sent to the ranks: a launcher that gets an
// interrupt kills its ranks at once, and leaves files behind at the second one; one that gets SIGTERM
// gives its ranks a second. So it is sent SIGTERM for ranks of other machines alone.
int run_launcher(const Launcher& launcher, std::vector<char*> words, const std::string& folder, int ranks) {
  const bool interruptible = launcher.kind == LauncherKind::other;
  const pid_t process = start_child([&] { become(words.data(), interruptible); });
  Escalation escalation;
  RanksHere here(folder, ranks);
  int sent = 0;
  return wait_for_child(process, [&] {
    const int due = escalation.due();
    const bool all_are_signalled = here.send(due) && due == SIGTERM;
    if (due == SIGINT || due == sent || all_are_signalled) return;
    kill(process, due);
    sent = due;
  });
}

}  // namespace

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "PARTITA_RANK"}) {
    const char* const text = std::getenv(name);
    int rank = 0;
    if (text != nullptr && std::from_chars(text, text + std::strlen(text), rank).ec == std::errc{})
      return rank;
  }
  return 0;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

int usual_ranks() {
  return std::min(4, usable_cores());
}

Device usable_gpu() {
  const DeviceReport report = report_devices();
  if (!report.devices.empty()) return Device::cuda();
  throw std::runtime_error(
      fmt::format("--device cuda: no GPU can be used: {} (see partita doctor)", report.note));
}

void report_failure(const std::string& line) {
  const char* const folder = std::getenv(folder_variable);
  if (folder != nullptr && fs::is_directory(folder)) {
    std::ofstream(fmt::format("{}/{}.error", folder, launched_rank())) << line << '\n';
  } else if (launched_rank() == 0) {
    fmt::print(stderr, "{}\n", line);
  }
}

int run_job(const Launcher& launcher, int ranks, const std::vector<std::string>& program) {
  if (launcher.kind == LauncherKind::none) throw std::runtime_error(launcher.problem);
  if (is_launched_rank())
    throw UsageError("this process is itself a rank of a launcher and cannot start another job");
  pass_signals_on(launcher.kind == LauncherKind::own);  // from here on the folder is removed in any case
  const JobFolder folder;
  pass_terminal_on();
  if (launcher.kind == LauncherKind::own) return run_connected(folder.path(), ranks, program);
  std::vector<std::string> words{launcher.path};
  words.insert(words.end(), launcher.flags.begin(), launcher.flags.end());
  const std::string count = std::to_string(ranks);
  for (const std::string& word : {std::string("-n"), count, own_program(), std::string(rank_of_job_flag)}) {
    words.push_back(word);
  }
  words.push_back(folder.path());
  words.insert(words.end(), program.begin(), program.end());
  // Open MPI puts its own folder before those of the PATH: python3 would not be that of the active
  // environment.
  std::string& name = words[words.size() - program.size()];
  if (const std::string path = name.find('/') == std::string::npos ? find_in_path(name) : ""; !path.empty())
    name = path;
  const LauncherNoise noise(folder.path(), launcher.kind);
  const int code = run_launcher(launcher, pointers_to(words), folder.path(), ranks);
  const int worst = judge_unless_interrupted(folder.path(), codes_in(folder.path(), ranks));
  if (worst == 0 && code != 0) noise.print();
  return worst != 0 ? worst : code;
}

int run_rank_of_job(const std::string& folder, char** program) {
  if (*program == nullptr) return 2;
  const std::string base = fmt::format("{}/{}.", folder, launched_rank());
  pass_signals_on(true);
  std::ofstream(base + "started") << fmt::format("{} {}\n", getpid(), this_machine());
  setenv(folder_variable, folder.c_str(), 1);
  LauncherNoise::forget(folder);
  const int code = wait_for_child(start_child([&] {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    become(program);
  }));
  std::ofstream(base + "code") << code << '\n';
  // The launcher gets exit code 0: it would only repeat the failure, in many lines.
  return fs::is_directory(folder) ? 0 : code;
}

void on_ranks(int ranks, const std::function<void(Context&)>& body, const ContextOptions& options) {
  if (is_launched_rank() || ranks == 1) {
    Context context = initialize(options);
    body(context);
    return;
  }
  if (!has_mpi()) return ThreadGroup::run(ranks, body, options);
  std::vector<std::string> words{own_program()};
  words.insert(words.end(), command_line().begin(), command_line().end());
  throw ExitCode{run_job(find_launcher(), ranks, words)};
}

}  // namespace partita::tools
