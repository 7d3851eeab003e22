// The vendor's collectives among several GPUs against the host's reductions: one thread per GPU.
#include "device/device_group.hpp"

#include "base/visit_dtype.hpp"
#include "context/context_state.hpp"
#include "device/device_synchronization.hpp"
#include "kernels/host/copy.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<char>;

/// A rank of the group, with its device's memory.
class Member {
 public:
  explicit Member(Context& context) : context_(context), state_(*context.state()) {}
  devices::DeviceGroup& group() { return *state_.device_group(); }
  ContextState& state() { return state_; }
  int rank() const { return context_.rank(); }
  int size() const { return context_.size(); }

  std::shared_ptr<void> upload(const Bytes& bytes) {
    devices::Accelerator& device = *state_.device;
    device.use();
    std::shared_ptr<void> memory(device.physical().allocate(static_cast<std::int64_t>(bytes.size()) + 1),
                                 [&device](void* pointer) { device.physical().release(pointer); });
    device.copy_bytes(bytes.data(), memory.get(), static_cast<std::int64_t>(bytes.size()), device.stream());
    context_.synchronize();
    return memory;
  }
  Bytes download(const std::shared_ptr<void>& memory, std::size_t bytes) {
    Bytes result(bytes);
    context_.synchronize();
    state_.device->copy_bytes(memory.get(), result.data(), static_cast<std::int64_t>(bytes),
                              state_.device->stream());
    context_.synchronize();
    return result;
  }

 private:
  Context& context_;
  ContextState& state_;
};

/// Runs on `ranks` threads, each with a separate GPU and a group, or says why not.
void on_groups(int ranks, const std::function<void(Member&)>& body) {
  devices::Accelerators& devices = devices::Accelerators::built_in();
  if (devices.count() < ranks) {
    GTEST_SKIP() << "needs " << ranks << " GPUs, there are " << devices.count() << " " << devices.why_none();
  }
  std::atomic<bool> none = false;
  ThreadGroup::run(ranks,
                   [&](Context& context) {
                     ContextState& state = *context.state();
                     state.adopt(state.device->make_group(state));
                     Member member(context);
                     if (state.device_group() == nullptr) {
                       none = true;
                     } else {
                       body(member);
                     }
                   },
                   {.device = Device::cuda(), .deadline = 30s});
  if (none) GTEST_SKIP() << "no NCCL (libnccl.so.2)";
}

void on_all_groups(const std::function<void(Member&)>& body) {
  on_groups(std::max(1, devices::Accelerators::built_in().count()), body);
}

/// What rank `rank` brings: small whole numbers, so that no order of sums or products rounds.
Bytes numbers(Dtype dtype, int rank, std::int64_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) + 1);
  Bytes result(static_cast<std::size_t>(count * size_of(dtype)));
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(random() % 2 + 1);
      T element{};
      if constexpr (is_small_float_type<T>) {
        element = from_float<T>(value);
      } else if constexpr (std::is_arithmetic_v<T>) {
        element = static_cast<T>(std::is_signed_v<T> && random() % 2 == 0 ? -value : value);
      } else {
        element = {static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(-value)};
      }
      std::memcpy(result.data() + i * size_of(dtype), &element, sizeof(element));
    }
  });
  return result;
}

Bytes reduced(Dtype dtype, Reduction reduction, int ranks, std::int64_t count) {
  Bytes result = numbers(dtype, 0, count);
  const kernels::StridedCopy nest =
      kernels::simplify({size_of(dtype), 0, 0, {{count, size_of(dtype), size_of(dtype)}}});
  for (int rank = 1; rank < ranks; ++rank) {
    kernels::accumulate(nest, dtype, reduction, numbers(dtype, rank, count).data(), result.data());
  }
  return result;
}

Bytes part_of(const Bytes& whole, int number, std::size_t bytes) {
  const auto first = whole.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(number) * bytes);
  return {first, first + static_cast<std::ptrdiff_t>(bytes)};
}

/// Every dtype and reduction that the group offers, with a few counts.
void each_reduction(Member& member, const std::function<void(Dtype, Reduction, std::int64_t)>& body) {
  for (int number = 0; number < dtype_count; ++number) {
    for (int operation = 0; operation < reduction_count; ++operation) {
      const auto dtype = static_cast<Dtype>(number);
      const auto reduction = static_cast<Reduction>(operation);
      if (!member.group().reduces(dtype, reduction)) continue;
      ASSERT_TRUE(is_defined(reduction, dtype));
      for (const std::int64_t count : {0, 1, 1001, 70001}) body(dtype, reduction, count);
    }
  }
}

TEST(CudaGroup, OffersWhatIsTheSameAsOnTheHost) {
  on_all_groups([](Member& member) {
    const devices::DeviceGroup& group = member.group();
    EXPECT_EQ(group.name().substr(0, 5), "NCCL ");
    for (const Dtype dtype : {Dtype::i8, Dtype::u64, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::c128}) {
      EXPECT_TRUE(group.reduces(dtype, Reduction::sum)) << name(dtype);
    }
    EXPECT_TRUE(group.reduces(Dtype::i32, Reduction::min));
    EXPECT_FALSE(group.reduces(Dtype::f32, Reduction::min));  // of a NaN
    EXPECT_FALSE(group.reduces(Dtype::c64, Reduction::product));
    EXPECT_FALSE(group.reduces(Dtype::i16, Reduction::sum));
    EXPECT_FALSE(group.reduces(Dtype::boolean, Reduction::sum));
    EXPECT_FALSE(group.reduces(Dtype::u8, Reduction::bit_and));
  });
}

TEST(CudaGroup, AllReduceGivesEveryRankTheHostsResult) {
  on_all_groups([](Member& member) {
    each_reduction(member, [&](Dtype dtype, Reduction reduction, std::int64_t count) {
      const Bytes mine = numbers(dtype, member.rank(), count);
      const auto from = member.upload(mine);
      const auto to = member.upload(Bytes(mine.size()));
      member.group().all_reduce(from.get(), to.get(), count, dtype, reduction, {});
      member.group().all_reduce(from.get(), from.get(), count, dtype, reduction, {});
      const Bytes expected = reduced(dtype, reduction, member.size(), count);
      ASSERT_EQ(member.download(to, mine.size()), expected) << name(dtype) << " " << name(reduction);
      ASSERT_EQ(member.download(from, mine.size()), expected) << "in place";
    });
  });
}

TEST(CudaGroup, ReduceGivesTheRootTheHostsResult) {
  on_all_groups([](Member& member) {
    const int root = member.size() - 1;
    each_reduction(member, [&](Dtype dtype, Reduction reduction, std::int64_t count) {
      const Bytes mine = numbers(dtype, member.rank(), count);
      const auto from = member.upload(mine);
      const auto to = member.upload(Bytes(mine.size(), 7));
      member.group().reduce(from.get(), to.get(), count, dtype, reduction, root, {});
      const Bytes found = member.download(to, mine.size());
      if (member.rank() != root) return;
      ASSERT_EQ(found, reduced(dtype, reduction, member.size(), count))
          << name(dtype) << " " << name(reduction);
    });
  });
}

TEST(CudaGroup, ReduceScatterGivesEachRankItsPart) {
  on_all_groups([](Member& member) {
    each_reduction(member, [&](Dtype dtype, Reduction reduction, std::int64_t count) {
      const std::int64_t whole = count * member.size();
      const auto bytes = static_cast<std::size_t>(count * size_of(dtype));
      const auto from = member.upload(numbers(dtype, member.rank(), whole));
      const auto to = member.upload(Bytes(bytes));
      member.group().reduce_scatter(from.get(), to.get(), count, dtype, reduction, {});
      const Bytes expected = reduced(dtype, reduction, member.size(), whole);
      ASSERT_EQ(member.download(to, bytes), part_of(expected, member.rank(), bytes))
          << name(dtype) << " " << name(reduction);
    });
  });
}

TEST(CudaGroup, BroadcastAndAllGatherMoveBytes) {
  on_all_groups([](Member& member) {
    for (const std::int64_t bytes : {0, 1, 1003, 1 << 20}) {
      const Bytes mine = numbers(Dtype::u8, member.rank(), bytes);
      for (int root = 0; root < member.size(); ++root) {
        const auto from = member.upload(mine);
        const auto to = member.upload(Bytes(mine.size()));
        member.group().broadcast(from.get(), to.get(), bytes, root, {});
        ASSERT_EQ(member.download(to, mine.size()), numbers(Dtype::u8, root, bytes)) << "root " << root;
      }
      const auto from = member.upload(mine);
      const auto all = member.upload(Bytes(mine.size() * static_cast<std::size_t>(member.size())));
      member.group().all_gather(from.get(), all.get(), bytes, {});
      const Bytes found = member.download(all, mine.size() * static_cast<std::size_t>(member.size()));
      for (int rank = 0; rank < member.size(); ++rank) {
        ASSERT_EQ(part_of(found, rank, mine.size()), numbers(Dtype::u8, rank, bytes)) << "rank " << rank;
      }
    }
  });
}

/// Uneven, also empty; twice as much for the ranks themselves.
std::int64_t letter_bytes(int from, int to) {
  return (from + 2 * to) % 3 == 1 ? 0 : 1 + 1000 * from + 77777 * to;
}

/// What one rank sends to another, in two parts.
Bytes letter(int from, int to) {
  return numbers(Dtype::u8, 10 * from + to, 2 * letter_bytes(from, to));
}

std::vector<devices::DeviceGroup::Part> parts_of(int peer, const std::shared_ptr<void>& memory,
                                                 std::int64_t bytes) {
  char* const data = static_cast<char*>(memory.get());
  return {{peer, data, bytes}, {peer, data + bytes, bytes}};
}

TEST(CudaGroup, ExchangeMovesPartsOfAllLengths) {
  on_all_groups([](Member& member) {
    const int me = member.rank();
    std::vector<std::shared_ptr<void>> from, to;
    std::vector<devices::DeviceGroup::Part> sent, received;
    for (int peer = 0; peer < member.size(); ++peer) {
      from.push_back(member.upload(letter(me, peer)));
      to.push_back(member.upload(Bytes(letter(peer, me).size())));
      for (const auto& part : parts_of(peer, from.back(), letter_bytes(me, peer))) sent.push_back(part);
      for (const auto& part : parts_of(peer, to.back(), letter_bytes(peer, me))) received.push_back(part);
    }
    member.group().exchange(sent, received, {});
    for (int peer = 0; peer < member.size(); ++peer) {
      const Bytes expected = letter(peer, me);
      ASSERT_EQ(member.download(to[static_cast<std::size_t>(peer)], expected.size()), expected)
          << "from rank " << peer;
    }
  });
}

bool passes_within(devices::DeviceEvent& end, std::chrono::seconds limit) {
  const auto start = std::chrono::steady_clock::now();
  while (!end.reached()) {
    if (std::chrono::steady_clock::now() - start > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST(CudaGroup, AbortLetsAHangingOperationEnd) {
  on_groups(2, [](Member& member) {
    const auto memory = member.upload(Bytes(4000));
    if (member.rank() == 0) {  // and no other rank
      devices::Accelerator& device = *member.state().device;
      member.group().all_reduce(memory.get(), memory.get(), 1000, Dtype::f32, Reduction::sum, {});
      const std::unique_ptr<devices::DeviceEvent> end = device.event();
      end->record(device.stream());
      EXPECT_FALSE(passes_within(*end, 1s));
      member.group().abort();
      member.group().abort();
      EXPECT_TRUE(passes_within(*end, 20s));
      EXPECT_EQ(member.group().failed(), "");
      EXPECT_THROW(
          member.group().all_reduce(memory.get(), memory.get(), 1000, Dtype::f32, Reduction::sum, {}), Error);
    } else {
      std::this_thread::sleep_for(2s);
      member.group().abort();
    }
  });
}

TEST(CudaGroup, AContextThatFailsLetsItsOperationsEnd) {
  on_groups(2, [](Member& member) {
    const auto memory = member.upload(Bytes(4000));
    if (member.rank() == 0) {
      devices::Accelerator& device = *member.state().device;
      member.group().all_reduce(memory.get(), memory.get(), 1000, Dtype::f32, Reduction::sum, {});
      member.state().fail("as a test");
      const std::unique_ptr<devices::DeviceEvent> end = device.event();
      end->record(device.stream());
      EXPECT_TRUE(passes_within(*end, 20s));
      EXPECT_THROW(
          member.group().all_reduce(memory.get(), memory.get(), 1000, Dtype::f32, Reduction::sum, {}),
          FailedContextError);
    }
  });
}

}  // namespace
}  // namespace partita::testing
