// Runs on as many processes as the launcher starts; every process makes the same calls with the same random
// numbers. The exit code of each process is its own. Linked with the drop-in first and ScaLAPACK behind it,
// as a program would be.
#include <gtest/gtest.h>

#include <cstdio>

#include "scalapack_calls.hpp"

namespace {

class FailurePrinter : public ::testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?",
                 result.line_number(), result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  // All of these matrices are small; the drop-in shall compute them itself. A separate test checks the
  // rest.
  ::setenv("PARTITA_SCALAPACK_THRESHOLD", "0", 0);
  ::testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  int processes = 0;
  Cblacs_pinfo(&rank, &processes);
  if (rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  const int failed = RUN_ALL_TESTS();
  Cblacs_exit(0);
  return failed;
}
