// Two ranks on each of two hosts: `partita_two_hosts CASE REPORT SEED`. Each rank that lives to tell leaves a
// file REPORT.RANK, whose first word is "good" if all was as it must be. `CASE`:
//   work      random redistributions and collectives
//   mismatch  the last rank calls something else: the same error on all, and the context can still be used
//   returns, throws, exits, killed   the last rank leaves so; the others, on both hosts, are notified before
//             their deadline
//   cut       a report when all are at work, and another one after the cable has been cut: each rank gives up
//             at its deadline
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <partita/partita.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace pt = partita;

namespace {

using Clock = std::chrono::steady_clock;

struct Report {
  std::string file;
  void write(bool good, const std::string& text) const {
    const std::string unfinished = file + ".unfinished";
    std::ofstream(unfinished) << (good ? "good: " : "bad: ") << text << "\n";
    std::filesystem::rename(unfinished, file);
  }
};

struct Case {
  pt::Context& context;
  Report report;
  std::mt19937 random;

  std::int64_t number(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random);
  }
};

pt::Distribution any_distribution(Case& c) {
  const std::int64_t rows = c.number(1, 9), columns = c.number(1, 9);
  switch (c.number(0, 5)) {
    case 0:
      return pt::Slab(0);
    case 1:
      return pt::Slab(1);
    case 2:
      return pt::BlockCyclic({2, 2}, {rows, columns});
    case 3:
      return pt::BlockCyclic({1, 4}, {rows, columns});
    case 4:
      return pt::BlockNonCyclic({2, 2});
    default:
      return pt::Replicated();
  }
}

void redistribute_something(Case& c) {
  const pt::Shape shape{c.number(0, 3) == 0 ? c.number(1, 900) : c.number(1, 60), c.number(1, 300)};
  const pt::Dtype dtype = c.number(0, 1) == 0 ? pt::Dtype::f32 : pt::Dtype::c128;
  const auto seed = static_cast<std::uint64_t>(c.number(0, 1 << 30));
  pt::Array source = pt::empty(c.context, shape, any_distribution(c), dtype);
  pt::fill_random(source, seed);
  const pt::Array result = pt::redistribute(source, any_distribution(c));
  pt::Array expected = pt::empty(c.context, result.layout(), dtype);
  pt::fill_random(expected, seed);
  if (!pt::compare(result, expected).equal) throw std::runtime_error("a redistribution is wrong");
}

void add_something(Case& c) {
  const std::int64_t count = c.number(1, 20000);
  std::vector<std::int64_t> mine(static_cast<std::size_t>(count)), sum(mine.size());
  std::iota(mine.begin(), mine.end(), c.context.rank());
  pt::all_reduce(c.context, pt::View::dense(mine.data(), pt::Dtype::i64, {count}),
                 pt::View::dense(sum.data(), pt::Dtype::i64, {count}));
  for (std::int64_t i = 0; i < count; ++i) {
    if (sum[static_cast<std::size_t>(i)] != 4 * i + 6) throw std::runtime_error("a sum is wrong");
  }
}

void work(Case& c) {
  const auto& topology = c.context.topology();
  if (c.context.size() != 4 || topology.node_count() != 2 || topology.same_node(1, 2))
    throw std::runtime_error("these are not two hosts with two ranks each");
  for (int turn = 0; turn < 60; ++turn) {
    redistribute_something(c);
    add_something(c);
  }
  c.report.write(true, "60 redistributions and sums");
  c.context.close();
}

void mismatch(Case& c) {
  try {
    if (c.context.rank() == 3) {
      c.context.barrier();
    } else {
      static_cast<void>(pt::SymmetricMemory::allocate(c.context, 1 << 10));
    }
    c.report.write(false, "nothing was thrown");
  } catch (const pt::DisagreementError& error) {
    redistribute_something(c);
    c.report.write(true, error.what());
  }
}

void go(const std::string& how) {
  if (how == "returns") return;
  if (how == "throws") throw std::runtime_error("for a test");
  if (how == "exits") std::exit(3);
  std::raise(SIGKILL);
}

void lose(Case& c, const std::string& how) {
  add_something(c);
  if (c.context.rank() == 3) return go(how);
  const auto begin = Clock::now();
  try {
    c.context.barrier();
    c.report.write(false, "nothing was thrown");
  } catch (const pt::LostPeerError& error) {
    c.report.write(Clock::now() - begin < std::chrono::seconds(15), error.what());
  }
}

void meet_the_cut(Case& c) {
  add_something(c);
  c.context.barrier();
  c.report.write(true, "at work");
  try {
    for (;;) {
      redistribute_something(c);
      add_something(c);
    }
  } catch (const pt::TimeoutError& error) {
    c.report.write(true, error.what());
  } catch (const pt::LostPeerError& error) {  // a neighbour's deadline
    c.report.write(true, error.what());
  }
}

void run(const std::string& name, const std::string& report, unsigned seed) {
  pt::Context context = pt::initialize({.deadline = std::chrono::seconds(name == "cut" ? 5 : 60)});
  Case c{context, {report + "." + std::to_string(context.rank())}, std::mt19937(seed)};
  try {
    if (name == "work") return work(c);
    if (name == "mismatch") return mismatch(c);
    if (name == "cut") return meet_the_cut(c);
    lose(c, name);
  } catch (const pt::Error& error) {
    c.report.write(false, error.what());
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    run(argv[1], argv[2], static_cast<unsigned>(std::stoul(argv[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "two_hosts: %s\n", error.what());
    return 1;
  }
  return 0;
}
