// ThreadGroup of <partita/context.hpp>: the face of the threads backend.
#include <exception>
#include <partita/context.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "context/context_state.hpp"
#include "runtime/checks/error_kind.hpp"
#include "runtime/groups/threads_group.hpp"

namespace partita {
namespace {

/// A body that throws fails its context, so that the other ranks need not wait for the deadline.
void run_body(Context& context, const std::function<void(Context&)>& body) {
  try {
    body(context);
  } catch (...) {
    context.fail(runtime::describe_error(std::current_exception()).text);
    throw;
  }
}

std::exception_ptr run_member(runtime::ThreadMember& member, Communicator communicator,
                              ContextOptions options, const std::function<void(Context&)>& body) {
  std::exception_ptr error;
  try {
    options.communicator = std::move(communicator);
    Context context = initialize(options);
    run_body(context, body);
  } catch (...) {
    error = std::current_exception();
  }
  member.shared->end(member.rank, error ? runtime::describe_error(error).text : "");
  return error;
}

}  // namespace

ThreadGroup::ThreadGroup(int ranks)
    : shared_(std::make_shared<runtime::ThreadsShared>(ranks)), ranks_(ranks) {}

Communicator ThreadGroup::member(int rank) const {
  check(rank >= 0 && rank < ranks_, "rank {} is not one of the {} ranks of the thread group", rank, ranks_);
  Communicator communicator;
  communicator.thread_member = std::make_shared<runtime::ThreadMember>(
      runtime::ThreadMember{std::static_pointer_cast<runtime::ThreadsShared>(shared_), rank});
  return communicator;
}

void ThreadGroup::run(int ranks, const std::function<void(Context&)>& body, const ContextOptions& options) {
  const ThreadGroup group(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  const auto run_rank = [&](int rank) {
    Communicator communicator = group.member(rank);
    const auto member = std::static_pointer_cast<runtime::ThreadMember>(communicator.thread_member);
    errors[static_cast<std::size_t>(rank)] = run_member(*member, std::move(communicator), options, body);
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    try {
      threads.emplace_back(run_rank, rank);
    } catch (...) {  // No more threads can be started: the running ones are notified of this rank's end.
      const auto shared = std::static_pointer_cast<runtime::ThreadsShared>(group.shared_);
      errors[static_cast<std::size_t>(rank)] = std::current_exception();
      shared->end(rank, runtime::describe_error(std::current_exception()).text);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace partita
