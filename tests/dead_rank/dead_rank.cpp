// A rank that leaves in the middle: `mpirun -n 4 partita_dead_rank [where [how]]`. The last rank leaves; the
// others must be notified long before their deadline, and end by themselves with code 7. `where`:
//   barrier   before it enters a barrier (the default)
//   allocate  before it takes part in an allocation, with symmetric memory in use
//   subgroup  while a subgroup of all is in use
//   reads     at any moment of exchanges of ordinary memory, which the kernel copies from process to process
//   stream    before it takes part in a redistribution that the others have enqueued on their devices,
//             without a call of theirs that waits for it; devices are made of host memory and threads
//   stores    the same before a transform whose results the others store in its memory, and it in theirs
// `how`:
//   killed    by a signal (the default)
//   returns   from main, in order, with a different exit code
//   throws    an exception, which main catches
//   exits     by std::exit, so that no destructor runs
//   silent    not at all, but it never calls: the others' deadline
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <partita/array.hpp>
#include <partita/collectives.hpp>
#include <partita/context.hpp>
#include <partita/error.hpp>
#include <partita/fft.hpp>
#include <partita/memory.hpp>
#include <partita/redistribute.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/fakes/fake_device.hpp"

namespace pt = partita;

namespace {

constexpr int given_up = 7;
constexpr int wrong = 1;
/// To be notified of a rank that has left; without load it takes some tenths of a second.
constexpr auto longest = std::chrono::seconds(10);

constexpr int left = 3;

int leave(const std::string& how) {
  if (how == "returns") return left;
  if (how == "throws") throw std::runtime_error("for a test");
  if (how == "exits") std::exit(left);
  if (how == "killed") std::raise(SIGKILL);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  return given_up;
}

// What the others must read somewhere in their error.
std::string told(const std::string& how) {
  if (how == "returns") return "has left its context without closing it";
  if (how == "throws") return "has left its context by an exception";
  if (how == "exits") return "has ended its program with its context open";
  return how == "killed" ? "has ended" : "";
}

struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// All to all, again and again, until it throws.
[[noreturn]] void exchange_for_ever(pt::Context& context) {
  const int ranks = context.size();
  constexpr std::int64_t part = 3 << 20;
  std::vector<int> sent(static_cast<std::size_t>(part * ranks)), received(sent.size());
  const auto view = [](std::vector<int>& numbers) {
    return pt::View::dense(numbers.data(), pt::Dtype::i32, {static_cast<std::int64_t>(numbers.size())});
  };
  for (int round = 0;; ++round) {
    std::fill(sent.begin(), sent.end(), round * ranks + context.rank());
    pt::all_to_all(context, view(sent), view(received));
    for (int p = 0; p < ranks; ++p) {
      const auto first = received.begin() + p * part;
      if (std::any_of(first, first + part, [&](int number) { return number != round * ranks + p; }))
        throw WrongResult("what has come from rank " + std::to_string(p) + " is wrong");
    }
  }
}

/// It takes part until a signal comes out of the blue.
void leave_while_it_is_read(pt::Context& context) {
  const std::thread killer([] {
    std::this_thread::sleep_for(std::chrono::microseconds(200'000 + std::random_device()() % 50'000));
    std::raise(SIGKILL);
  });
  exchange_for_ever(context);
}

// What the survivors are in when the last rank leaves.
void call(pt::Context& context, const std::string& where) {
  if (where == "reads") {
    exchange_for_ever(context);
  } else if (where == "allocate") {
    static_cast<void>(pt::SymmetricMemory::allocate(context, 1 << 20));
  } else {
    context.barrier();
  }
}

int survive(pt::Context& context, const std::string& where, const std::string& how) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    call(context, where);
    std::fprintf(stderr, "rank %d: nothing was thrown\n", context.rank());
    return wrong;
  } catch (const pt::LostPeerError& error) {
    std::fprintf(stderr, "rank %d: LostPeerError: %s\n", context.rank(), error.what());
  } catch (const pt::TimeoutError& error) {
    std::fprintf(stderr, "rank %d: TimeoutError: %s\n", context.rank(), error.what());
  }
  if (context.failure().find(told(how)) == std::string::npos) return wrong;
  if (std::chrono::steady_clock::now() - begin > longest) return wrong;
  try {
    context.barrier();
  } catch (const pt::FailedContextError&) {
    return given_up;
  }
  return wrong;
}

/// What all have done once, and what the others put into their streams then.
struct StreamCall {
  std::function<void()> first, then;
};

StreamCall redistribution(const pt::Context& context) {
  const auto rows = std::make_shared<pt::Array>(pt::zeros(context, {64, 64}, pt::Slab(0), pt::Dtype::f32));
  const auto columns = std::make_shared<pt::Array>(pt::zeros(context, {64, 64}, pt::Slab(1), pt::Dtype::f32));
  const auto plan = std::make_shared<pt::Redistribute>(context, rows->operand(), columns->operand());
  return {[=] { plan->execute(*rows, *columns); }, [=] { plan->execute(*rows, *columns, pt::Stream{}); }};
}

StreamCall stored_transform(const pt::Context& context) {
  const auto field = std::make_shared<pt::Array>(pt::zeros(context, {8, 16}, pt::Slab(0), pt::Dtype::c128));
  const auto modes = std::make_shared<pt::Array>(pt::zeros(context, {8, 16}, pt::Slab(1), pt::Dtype::c128));
  pt::FftOptions options{.exchange = pt::FftExchange::stores};
  const auto plan = std::make_shared<pt::FFT>(context, field->operand(), modes->operand(), options);
  if (plan->plan().method != "slab+stores") throw std::runtime_error("it does not store");
  return {[=] { plan->execute(*field, *modes); }, [=] { plan->execute(*field, *modes, 1, pt::Stream{}); }};
}

// The survivors' programs wait for their streams themselves: here not at all.
int run_in_stream(const std::string& where) {
  pt::testing::install_fake_devices(pt::testing::usual_fake_devices);
  pt::Context context = pt::initialize({.device = pt::Device::cuda(), .deadline = std::chrono::seconds(100)});
  const StreamCall call = where == "stores" ? stored_transform(context) : redistribution(context);
  call.first();
  context.barrier();
  if (context.rank() == context.size() - 1) std::raise(SIGKILL);
  call.then();
  for (int turn = 0; turn < 200 && !context.failed(); ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::fprintf(stderr, "rank %d: %s\n", context.rank(), context.failure().c_str());
  return context.failure().find("has ended") == std::string::npos ? wrong : given_up;
}

int run(const std::string& where, const std::string& how) {
  if (where == "stream" || where == "stores") return run_in_stream(where);
  pt::Context world = pt::initialize({.deadline = std::chrono::seconds(how == "silent" ? 2 : 60)});
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  std::optional<pt::Context> group;
  if (where == "subgroup") group = world.subgroup(all);
  pt::Context& context = group ? *group : world;
  const pt::SymmetricMemory used = pt::SymmetricMemory::allocate(context, 3 << 20);
  context.barrier();
  const bool leaves = context.rank() == context.size() - 1;
  if (leaves && where == "reads") leave_while_it_is_read(context);
  return leaves ? leave(how) : survive(context, where, how);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "barrier", argc > 2 ? argv[2] : "killed");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dead_rank: %s\n", error.what());
    return wrong;
  }
}
