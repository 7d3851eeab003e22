// A peer that is a separate program: it has all cores while our ranks sleep.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace partita::benchmarks {

/// A process that works when it is asked to. Its command line reads a line from stdin for each piece of work
/// and answers with the seconds that it took, in a line on stdout. Ended with this object. Local.
class Apart {
 public:
  /// Throws Error where it cannot be started.
  explicit Apart(const std::vector<std::string>& command);
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  /// Seconds of one piece of work. Blocks; returns when the threads of the other process sleep again. Throws
  /// Error when it has ended.
  double work();

 private:
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

/// The other side: answers each line with the seconds of a product of private matrices by an OpenBLAS with as
/// many threads as the process has cores, of a transform by FFTW, or of a factorization by LAPACK. `what`:
/// "openblas:MxNxK", or as `serve_fftw` or `serve_lapack` says. Throws ArgumentError.
void serve_apart(const std::string& what);

/// Its loop: answers each line with the seconds of `work`, before which `prepare` is called.
void serve_work(const std::function<void()>& prepare, const std::function<void()>& work);
int usable_cores();  ///< of this process

/// The command line of such a process of this program.
std::vector<std::string> apart_command(const std::string& what);

/// The command line of another program on separate ranks of MPI, by this program's launcher; the first of
/// them reads its stdin.
std::vector<std::string> on_ranks_apart(const std::vector<std::string>& command, int ranks);

}  // namespace partita::benchmarks
