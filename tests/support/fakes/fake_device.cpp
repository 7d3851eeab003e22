#include "support/fakes/fake_device.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "base/host_clock.hpp"
#include "device/device_runtime.hpp"
#include "device/device_sorting.hpp"
#include "device/ordinary_reads.hpp"
#include "kernels/host/convert.hpp"
#include "kernels/host/fill.hpp"
#include "memory/nvshmem_node_memory.hpp"
#include "support/fakes/fake_device_group.hpp"
#include "support/fakes/fake_factorizations.hpp"
#include "support/fakes/fake_math.hpp"
#include "support/fakes/fake_memory.hpp"
#include "support/fakes/fake_nvshmem.hpp"
#include "support/fakes/fake_packets.hpp"
#include "support/fakes/fake_stream.hpp"
#include "support/fakes/fake_transforms.hpp"
#include "support/fakes/refused_memory.hpp"
#include "support/models/transpose_here.hpp"

namespace partita::testing {
namespace {

std::atomic<bool> refuses{false};
std::atomic<bool> refuses_reads{false};
std::atomic<const void*> unreadable{nullptr};
std::atomic<bool> has_nvshmem{false};
std::atomic<bool> computes{true};
std::atomic<FakeLibrary> library{FakeLibrary::none};
std::atomic<std::chrono::microseconds> copies_take{};

/// The host's memory of the node, or of it only this rank's part.
class FakeNodeMemory final : public memory::NodeMemory {
 public:
  FakeNodeMemory(runtime::Runtime& state, Topology topology, int device)
      : memory_(memory::NodeMemory::create(state, 64)),
        topology_(std::move(topology)),
        rank_(state.rank()),
        refused_(refuses) {
    FakeMemory::get().add(memory_->segment(rank_), memory_->stride(), device);
  }
  ~FakeNodeMemory() override { FakeMemory::get().forget(memory_->segment(rank_)); }
  FakeNodeMemory(const FakeNodeMemory&) = delete;
  FakeNodeMemory& operator=(const FakeNodeMemory&) = delete;
  void* control() override { return nullptr; }
  char* segment(int rank) override {
    const bool reached = rank == rank_ || (!refused_ && topology_.same_node(rank, rank_));
    return reached ? memory_->segment(rank) : nullptr;
  }
  std::int64_t stride() const override { return memory_->stride(); }
  void grow(std::int64_t bytes) override { memory_->grow(bytes); }

 private:
  std::unique_ptr<memory::NodeMemory> memory_;
  Topology topology_;
  int rank_;
  bool refused_;
};

/// Noted by the stream's thread.
class FakeTimedEvent final : public devices::TimedEvent {
 public:
  explicit FakeTimedEvent(std::shared_ptr<const std::atomic<double>> noted) : noted_(std::move(noted)) {}
  double seconds() const override { return *noted_; }

 private:
  std::shared_ptr<const std::atomic<double>> noted_;
};

bool is_given_up(const std::uint64_t* given_up) {
  return given_up != nullptr && std::atomic_ref(const_cast<std::uint64_t&>(*given_up)).load() != 0;
}

class FakePhysicalDevice final : public devices::PhysicalDevice, public devices::OrdinaryReads {
 public:
  explicit FakePhysicalDevice(int index) : index_(index) {}
  ~FakePhysicalDevice() override { collect_all(); }
  FakePhysicalDevice(const FakePhysicalDevice&) = delete;
  FakePhysicalDevice& operator=(const FakePhysicalDevice&) = delete;

  int index() const override { return index_; }
  std::string name() const override { return fmt::format("fake device {}", index_); }
  std::string model() const override { return "fake device"; }
  void use() override { drive_fake_device(index_); }

  devices::FoundMemory find_memory(const void* address) override {
    return FakeMemory::get().find(address, index_);
  }
  bool reads_memory_of(int device) override { return device == index_ || !refuses_reads; }
  std::string let_read(const void* address, std::span<const int> /*devices*/) override {
    return address == unreadable ? "a test says so" : "";
  }
  bool is_host_memory() const override { return !is_fake_memory_separate(); }
  std::unique_ptr<memory::NodeMemory> share_memory(runtime::Runtime& state,
                                                   const Topology& topology) override {
    return std::make_unique<FakeNodeMemory>(state, topology, index_);
  }
  std::unique_ptr<memory::NodeMemory> share_memory_of_library(runtime::Runtime& state,
                                                              const Topology& topology) override {
    if (!has_nvshmem) return devices::PhysicalDevice::share_memory_of_library(state, topology);
    constexpr std::int64_t free_bytes = std::int64_t{4} << 30;  // only what is touched costs memory
    return std::make_unique<memory::NvshmemNodeMemory>(
        state, topology,
        memory::NvshmemDevice{devices::device_identity(state, *this), [] {}, [] { return free_bytes; }},
        fake_nvshmem());
  }

  /// Orders nothing but the words themselves: ThreadSanitizer would keep 168 bytes for each word that does,
  /// longer than the word is there, and a board of packets has a million.
  void copy_past(void* to, const void* from, std::int64_t bytes) override {
    const std::lock_guard lock(fake_driver());
    while (!past_.idle()) std::this_thread::yield();
    auto* const values = static_cast<std::uint64_t*>(const_cast<void*>(from));
    for (std::int64_t i = 0; i < bytes / 8; ++i) {
      std::atomic_ref(static_cast<std::uint64_t*>(to)[i])
          .store(std::atomic_ref(values[i]).load(std::memory_order_acquire), std::memory_order_relaxed);
    }
  }
  Stream stream_past() override { return {&past_}; }
  std::unique_ptr<devices::Accelerator> open(const ContextOptions& options, int ranks) override;

 private:
  void* new_memory(std::int64_t bytes) override { return new_memory_of(index_, bytes); }
  void* new_pinned(std::int64_t bytes) override { return new_memory_of(-1, bytes); }
  static void* new_memory_of(int owner, std::int64_t bytes) {
    void* const memory = memory_is_refused() ? nullptr : FakeMemory::get().allocate(bytes, owner);
    check<MemoryError>(memory != nullptr, "no memory left on the fake device: {} bytes", bytes);
    return memory;
  }
  void free(void* memory) noexcept override { FakeMemory::get().release(memory, index_); }
  void free_pinned(void* memory) noexcept override { free(memory); }

  int index_;
  FakeQueue past_;
};

class FakeAccelerator final : public devices::Accelerator, public devices::DeviceSorting {
 public:
  using devices::Accelerator::Accelerator;

  std::unique_ptr<devices::DeviceGroup> make_group(devices::DeviceRuntime& state) override {
    if (library == FakeLibrary::none) return devices::Accelerator::make_group(state);
    const auto put = [this](Stream where, FakeDeviceGroup::Task task) {
      const Stream used = where.given ? where : stream();
      FakeQueue& queue = queue_of(used);
      this->put(used, [&queue, work = std::move(task)] {
        work([&queue](const std::function<bool()>& ready) { queue.wait(ready); });
      });
    };
    return std::make_unique<FakeDeviceGroup>(state.identity, state.rank(), state.size(),
                                             library == FakeLibrary::moves, put);
  }

  devices::DeviceMath* math() override {
    if (!computes) return nullptr;
    if (!math_) {
      math_ = std::make_unique<FakeMath>(
          [this](Stream where, std::function<void()> work) { put(where, std::move(work)); });
    }
    return math_.get();
  }
  std::string why_no_math() const override { return "fake devices do not compute"; }
  devices::DeviceTransforms* transforms() override {
    if (!computes) return nullptr;
    if (!transforms_) {
      transforms_ = std::make_unique<FakeTransforms>(
          [this](Stream where, std::function<void()> work) { put(where, std::move(work)); });
    }
    return transforms_.get();
  }
  std::string why_no_transforms() const override { return "fake devices do not compute"; }
  devices::DeviceFactorizations* factorizations() override {
    if (!computes) return nullptr;
    if (!factorizations_) {
      factorizations_ = std::make_unique<FakeFactorizations>(
          [this](Stream where, int launches, std::function<void()> work) {
            launching(where, launches);
            for (int i = 1; i < launches; ++i) queue_of(where).put([] {});
            queue_of(where).put(std::move(work));
          },
          [](Stream where) {
            FakeQueue& queue = queue_of(where);
            return [&queue](const std::function<bool()>& ready) { queue.wait(ready); };
          });
    }
    return factorizations_.get();
  }
  std::string why_no_factorizations() const override { return "fake devices do not compute"; }

  Stream stream() override { return made(0); }
  bool has_stream() const override { return queues_[0] != nullptr; }
  int lanes() const override { return 2; }
  Stream lane(int number) override { return made(static_cast<std::size_t>(number) + 1); }
  std::unique_ptr<devices::DeviceEvent> event() override { return std::make_unique<FakeEvent>(); }
  bool idle() override { return !has_stream() || queues_[0]->idle(); }
  bool captures(Stream stream) override { return queue_of(stream).graph() != nullptr; }
  std::weak_ptr<const void> graph_of(Stream stream) override { return queue_of(stream).graph(); }

  std::unique_ptr<devices::TimedEvent> timed_event(Stream stream) override {
    auto noted = std::make_shared<std::atomic<double>>(0);
    put(stream, [noted] { *noted = host_clock(); });
    return std::make_unique<FakeTimedEvent>(std::move(noted));
  }

  void copy_bytes(const void* from, void* to, std::int64_t bytes, Stream stream) override {
    put(stream, [=, delay = copies_take.load()] {
      std::this_thread::sleep_for(delay);
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    });
  }
  void copy(const kernels::StridedCopy& nest, const void* from, void* to, Stream stream,
            devices::CopyScope) override {
    put(stream, [=, delay = copies_take.load()] {
      std::this_thread::sleep_for(delay);
      if (!transposed_here(nest, from, to)) kernels::copy(nest, from, to, kernels::StoreHint::cache);
    });
  }
  void accumulate(const kernels::StridedCopy& nest, Dtype dtype, Reduction reduction, const void* from,
                  void* to, Stream stream) override {
    put(stream, [=] { kernels::accumulate(nest, dtype, reduction, from, to); });
  }
  void convert(const kernels::StridedCopy& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to,
               Stream stream) override {
    put(stream, [=] { kernels::convert(nest, from_dtype, to_dtype, from, to); });
  }
  void fill(const kernels::StridedCopy& nest, const void* element, std::int64_t element_bytes, void* to,
            Stream stream) override {
    std::array<char, 16> value{};
    std::memcpy(value.data(), element, static_cast<std::size_t>(element_bytes));
    put(stream, [=] { kernels::fill(nest, value.data(), element_bytes, to, kernels::StoreHint::cache); });
  }
  void compute(const kernels::ElementwisePass& pass, Stream stream) override {
    put(stream, [=] { kernels::compute(pass); });
  }
  void generate(const kernels::RandomPass& pass, Stream stream) override {
    put(stream, [=] { kernels::generate(pass); });
  }
  std::int64_t sort_scratch_bytes(const kernels::SortPass& pass) override { return pass.count; }
  void sort(const kernels::SortPass& pass, void* scratch, Stream stream) override {
    put(stream, [=] {
      std::memset(scratch, 1, static_cast<std::size_t>(pass.count));
      kernels::sort(pass);
    });
  }
  void gather(const GatherPass& pass, Stream stream) override {
    put(stream, [=] { kernels::gather(pass); });
  }
  std::int64_t true_scratch_bytes(const TruePass& pass) override { return pass.count; }
  void find_true(const TruePass& pass, void* scratch, Stream stream) override {
    put(stream, [=] {
      std::memset(scratch, 1, static_cast<std::size_t>(pass.count));
      kernels::find_true(pass);
    });
  }
  void search(const SearchPass& pass, Stream stream) override {
    put(stream, [=] { kernels::search(pass); });
  }
  void count(const CountPass& pass, Stream stream) override {
    put(stream, [=] { kernels::count(pass); });
  }
  std::int64_t scan_scratch_bytes(const kernels::ScanPass& pass) override { return pass.lines; }
  void scan(const kernels::ScanPass& pass, void* scratch, Stream stream) override {
    put(stream, [=] {
      std::memset(scratch, 1, static_cast<std::size_t>(pass.lines));
      kernels::scan(pass);
    });
  }
  void find_places(const kernels::PlacePass& pass, void* scratch, Stream stream) override {
    put(stream, [=] {
      static_cast<char*>(scratch)[fold_scratch_bytes - 1] = 1;
      kernels::find_places(pass);
    });
  }
  void multiply(const kernels::SymbolPass& pass, Stream stream) override {
    put(stream, [=] { kernels::multiply(pass); });
  }
  void fold(const kernels::FoldPass& pass, void* scratch, Stream stream) override {
    put(stream, [=] {
      static_cast<char*>(scratch)[fold_scratch_bytes - 1] = 1;
      kernels::fold(pass);
    });
  }
  void finish(const kernels::FinishPass& pass, Stream stream) override {
    put(stream, [=] { kernels::finish(pass); });
  }

  void flags(std::span<const devices::FlagOperation> operations, Stream stream) override {
    FakeQueue& queue = queue_of(stream);
    for (const devices::FlagOperation& one : operations) {
      put(stream, [&queue, one] {
        std::atomic_ref flag(*one.flag);
        const std::uint64_t value = one.count == nullptr ? one.value : * one.count += one.value;
        if (one.kind == devices::FlagOperation::Kind::write)
          return flag.store(value, std::memory_order_release);
        queue.wait(
            [&] { return flag.load(std::memory_order_acquire) >= value || is_given_up(one.given_up); });
      });
    }
  }
  bool offers_packets(Dtype, std::optional<Reduction>) const override { return true; }
  void exchange_packets(const devices::PacketExchange& what, Stream stream) override {
    FakeQueue& queue = queue_of(stream);
    const auto wait = [&queue](const std::function<bool()>& ready) { queue.wait(ready); };
    put(stream, [work = FakePackets(what, wait)]() mutable { work.run(); });
  }
  void move_packets(const devices::PacketMoves& what, Stream stream) override {
    FakeQueue& queue = queue_of(stream);
    const auto wait = [&queue](const std::function<bool()>& ready) { queue.wait(ready); };
    put(stream, [work = FakePacketMoves(what, wait)]() mutable { work.run(); });
  }

 private:
  /// As one launch.
  void put(Stream stream, std::function<void()> task) {
    launching(stream);
    queue_of(stream).put(std::move(task));
  }
  Stream made(std::size_t number) {
    std::unique_ptr<FakeQueue>& queue = queues_.at(number);
    if (!queue) queue = std::make_unique<FakeQueue>();
    return {queue.get()};
  }

  std::array<std::unique_ptr<FakeQueue>, 4> queues_;
  std::unique_ptr<FakeMath> math_;
  std::unique_ptr<FakeTransforms> transforms_;
  std::unique_ptr<FakeFactorizations> factorizations_;
};

std::unique_ptr<devices::Accelerator> FakePhysicalDevice::open(const ContextOptions&, int) {
  return std::make_unique<FakeAccelerator>(shared_from_this());
}

class FakeAccelerators final : public devices::Accelerators {
 public:
  explicit FakeAccelerators(int count) : open_(static_cast<std::size_t>(count)) {}
  int count() override { return static_cast<int>(open_.size()); }
  std::string why_none() override { return open_.empty() ? "there are no fake devices" : ""; }
  std::shared_ptr<devices::PhysicalDevice> device(int index) override {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<devices::PhysicalDevice>& open = open_.at(static_cast<std::size_t>(index));
    std::shared_ptr<devices::PhysicalDevice> device = open.lock();
    if (!device) open = device = std::make_shared<FakePhysicalDevice>(index);
    return device;
  }
  DeviceReport report() override {
    DeviceReport report;
    report.devices.resize(static_cast<std::size_t>(count()));
    for (DeviceReport::One& device : report.devices) device.name = "a fake device";
    return report;
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<devices::PhysicalDevice>> open_;
};

}  // namespace

void install_fake_devices(int count) {
  static std::unique_ptr<FakeAccelerators> installed;
  auto fake = std::make_unique<FakeAccelerators>(count);
  devices::Accelerators::replace(fake.get());
  installed = std::move(fake);
}

void delay_fake_copies(std::chrono::microseconds time) {
  copies_take = time;
}

void refuse_fake_peers(bool refuse) {
  refuses = refuse;
}

void refuse_fake_reads(bool refuse) {
  refuses_reads = refuse;
}

void refuse_fake_reads_of(const void* memory) {
  unreadable = memory;
}

void give_fake_nvshmem(bool give) {
  has_nvshmem = give;
}

FakeLibrary give_fake_library(FakeLibrary given) {
  return library.exchange(given);
}

void fake_devices_compute(bool compute) {
  computes = compute;
}

}  // namespace partita::testing
