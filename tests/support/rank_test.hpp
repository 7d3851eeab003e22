// Tests that run on several ranks: under a launcher (`partita run --threads` is one) each process is a rank
// and runs all tests in the same order; with --threads-group one process runs them, and each body on as many
// threads as there are ranks.
//
//   RANK_TEST(Redistribute, KeepsEmptyParts) {            // `context` is there
//     EXPECT_EQ(context.size(), ranks().count);
//   }
//
// or on_ranks(...) inside an ordinary TEST. Failures of any rank fail the run. What a body throws fails its
// context, so that the other ranks do not wait for it; the next test gets a new context. At the end of a body
// all ranks must keep the same plans.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <partita/context.hpp>
#include <string>
#include <vector>

#include "runtime/groups/process_group.hpp"

namespace partita::testing {

enum class GroupKind {
  mpi,  ///< processes: of MPI, or without it those of `partita run --threads`
  threads,
};

struct Ranks {
  GroupKind kind = GroupKind::threads;
  int count = 1;
  int per_node = 0;  ///< PARTITA_RANKS_PER_NODE; 0: all on one node
};

/// How this run was started.
const Ranks& ranks();

/// What the contexts of tests compute on. PARTITA_TEST_DEVICE: "cuda" for the GPUs, "fake" for devices that
/// are made of host memory and threads; unset: the CPU.
Device test_device();
/// On devices, some ranks may have to share one.
bool tests_fake_devices();

/// Longest wait without progress in a test, unless its own options say another: 60 s.
std::chrono::milliseconds deadline();

/// For sweeps over pairs of choices: PARTITA_SEED, or a random one; the same on every rank, printed once.
int pairs_seed();

/// The full product of choices is requested: PARTITA_FULL.
bool full_product();

/// For ContextOptions::on_wait: ranks come late to what they wait for, each at times of its own. Contexts
/// that have no other get it where PARTITA_TEST_SLOW is set.
std::function<void()> slow_waits();

/// Runs the body on every rank, with a context of all ranks that is kept from test to test.
void on_ranks(const std::function<void(Context&)>& body);
/// The same with a separate context, made with these options.
void on_ranks(const std::function<void(Context&)>& body, ContextOptions options);
/// The same with a group of all ranks and no context.
void on_groups(const std::function<void(runtime::ProcessGroup&)>& body, int ranks_per_node = 0);

/// In the body, on all ranks: what each of them says, by rank, whatever has become of its context.
std::vector<std::string> texts_of_all(int rank, const std::string& mine);
/// The same where all are to say the same.
void expect_same_text_on_all(int rank, const std::string& mine);

}  // namespace partita::testing

#define RANK_TEST(suite, name)                                                                  \
  static void suite##_##name##_on_ranks(partita::Context& context);                             \
  TEST(suite, name) {                                                                           \
    partita::testing::on_ranks(                                                                 \
        [](partita::Context& on_this_context) { suite##_##name##_on_ranks(on_this_context); }); \
  }                                                                                             \
  static void suite##_##name##_on_ranks([[maybe_unused]] partita::Context& context)

/// The same with a separate context, made with the options that follow.
#define RANK_TEST_WITH(suite, name, ...)                                                                     \
  static void suite##_##name##_on_ranks(partita::Context& context);                                          \
  TEST(suite, name) {                                                                                        \
    partita::testing::on_ranks(                                                                              \
        [](partita::Context& on_this_context) { suite##_##name##_on_ranks(on_this_context); }, __VA_ARGS__); \
  }                                                                                                          \
  static void suite##_##name##_on_ranks([[maybe_unused]] partita::Context& context)
