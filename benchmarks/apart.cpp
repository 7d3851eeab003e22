#include "benchmarks/apart.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <partita/error.hpp>
#include <string_view>
#include <thread>

#include "benchmarks/fftw.hpp"
#include "benchmarks/lapack.hpp"
#include "benchmarks/openblas.hpp"

namespace partita::benchmarks {
namespace {

constexpr auto until_threads_sleep = std::chrono::milliseconds(100);  // OpenBLAS's spin for 2^26 cycles

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(fmt::format("no pipe: {}", std::strerror(errno)));
  return ends;
}

pid_t spawn(const std::vector<std::string>& command, int input, int output) {
  std::vector<std::string> words = command;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(fmt::format("{}: {}", command.front(), std::strerror(error)));
  return process;
}

/// m, n, k.
std::array<int, 3> sizes_of(const std::string& what) {
  std::array<int, 3> sizes{};
  if (std::sscanf(what.c_str(), "openblas:%dx%dx%d", &sizes[0], &sizes[1], &sizes[2]) != 3)
    throw ArgumentError(fmt::format("\"{}\" is not openblas:MxNxK", what));
  return sizes;
}

std::vector<double> numbers(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 1021) / 1021.0 - 0.5;
  return values;
}

std::string this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace

Apart::Apart(const std::vector<std::string>& command) {
  const std::array<int, 2> input = make_pipe();
  const std::array<int, 2> output = make_pipe();
  process_ = spawn(command, input[0], output[1]);
  ::close(input[0]);
  ::close(output[1]);
  to_ = ::fdopen(input[1], "w");
  from_ = ::fdopen(output[0], "r");
}

Apart::~Apart() {
  std::fclose(to_);  // the end of its input is the end of it
  std::fclose(from_);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

double Apart::work() {
  std::fputs("work\n", to_);
  std::fflush(to_);
  double seconds = 0;
  if (std::fscanf(from_, "%lf", &seconds) != 1) throw Error("the process of a peer has ended");
  std::this_thread::sleep_for(until_threads_sleep);
  return seconds;
}

void serve_apart(const std::string& what) {
  if (what.starts_with("fftw:")) return serve_fftw(what);
  if (what.starts_with("lapack:")) return serve_lapack(what);
  const auto [m, n, k] = sizes_of(what);
  const OpenBlas& library = openblas();
  library.set_threads(usable_cores());
  const std::vector<double> a = numbers(std::int64_t{m} * k);
  const std::vector<double> b = numbers(std::int64_t{k} * n);
  std::vector<double> c = numbers(std::int64_t{m} * n);
  serve_work([] {}, [&, rows = m, columns = n,
                     depth = k] { library.multiply(rows, columns, depth, a.data(), b.data(), c.data()); });
}

void serve_work(const std::function<void()>& prepare, const std::function<void()>& work) {
  for (std::array<char, 64> line{}; std::fgets(line.data(), line.size(), stdin) != nullptr;) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    fmt::print("{:.9f}\n", taken.count());
    std::fflush(stdout);
  }
}

int usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

std::vector<std::string> apart_command(const std::string& what) {
  return {this_program(), "bench", "--apart", what};
}

// The environment that a launcher has given to this process would make the other's ranks ours.
std::vector<std::string> on_ranks_apart(const std::vector<std::string>& command, int ranks) {
  std::vector<std::string> words{"env"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    const bool of_a_launcher =
        name.starts_with("OMPI_") || name.starts_with("PMIX_") || name.starts_with("PMI_");
    if (of_a_launcher) words.insert(words.end(), {"-u", std::string(name)});
  }
  words.insert(words.end(), {this_program(), "run", "-q", "-n", std::to_string(ranks), "--"});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace partita::benchmarks
