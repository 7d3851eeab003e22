#include "kernels/host/on_threads.hpp"

#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace partita::kernels {

void start_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  threads.reserve(thrown.size());
  const auto run = [&](int number) {
    try {
      work(number);
    } catch (...) {
      thrown[static_cast<std::size_t>(number)] = std::current_exception();
    }
  };
  int started = 1;
  try {
    for (; started < count; ++started) threads.emplace_back(run, started);
  } catch (const std::system_error&) {
    // As many threads as the system gives.
  }
  run(0);
  for (int number = started; number < count; ++number) run(number);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : thrown)
    if (error) std::rethrow_exception(error);
}

}  // namespace partita::kernels
