// Arrays as DLPack tensors, on the host or (PARTITA_TEST_DEVICE) on devices.
#include <dlpack/dlpack.h>

#include <future>

#include "interop/dlpack_versioned.hpp"
#include "support/fakes/fake_device.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

struct Deleter {
  void operator()(DLManagedTensor* tensor) const { tensor->deleter(tensor); }
};
using Tensor = std::unique_ptr<DLManagedTensor, Deleter>;

void on_context(const std::function<void(Context&)>& body) {
  on_ranks(body, {.device = test_device()});
}

void expect_same(const DLTensor& tensor, const Array& array) {
  const View& view = array.local();
  EXPECT_EQ(tensor.data, view.data);
  EXPECT_EQ(tensor.byte_offset, 0U);
  ASSERT_EQ(tensor.ndim, view.extents.size());
  for (int i = 0; i < tensor.ndim; ++i) {
    EXPECT_EQ(tensor.shape[i], view.extents[i]);
    EXPECT_EQ(tensor.strides[i], view.strides[i]);
  }
}

TEST(Dlpack, SaysWhatTheElementsAre) {
  on_context([](Context& context) {
    const std::tuple<Dtype, int, int> known[] = {
        {Dtype::boolean, 6, 8}, {Dtype::i8, 0, 8},   {Dtype::u8, 1, 8},     {Dtype::i16, 0, 16},
        {Dtype::u16, 1, 16},    {Dtype::i32, 0, 32}, {Dtype::u32, 1, 32},   {Dtype::i64, 0, 64},
        {Dtype::u64, 1, 64},    {Dtype::f16, 2, 16}, {Dtype::bf16, 4, 16},  {Dtype::f32, 2, 32},
        {Dtype::f64, 2, 64},    {Dtype::c64, 5, 64}, {Dtype::c128, 5, 128}, {Dtype::f8e4m3, 10, 8},
        {Dtype::f8e5m2, 12, 8}};
    ASSERT_EQ(std::size(known), static_cast<std::size_t>(dtype_count));
    for (const auto& [dtype, code, bits] : known) {
      const Array array = zeros(context, {5, 3}, Slab(0), dtype);
      const Tensor tensor(to_dlpack(array));
      EXPECT_EQ(tensor->dl_tensor.dtype.code, code) << name(dtype);
      EXPECT_EQ(tensor->dl_tensor.dtype.bits, bits) << name(dtype);
      EXPECT_EQ(tensor->dl_tensor.dtype.lanes, 1);
    }
  });
}

TEST(Dlpack, ShowsTheLocalPartInPlace) {
  on_context([](Context& context) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      for (const Order order : {Order::row_major, Order::column_major}) {
        const Array array =
            zeros(context, {7, 5, 3}, Slab(1), Dtype::c64, {.residency = residency, .order = order});
        const Tensor tensor(to_dlpack(array));
        expect_same(tensor->dl_tensor, array);
        const bool on_gpu = context.device().kind == Device::Kind::cuda;
        EXPECT_EQ(tensor->dl_tensor.device.device_type, on_gpu ? kDLCUDA : kDLCPU);
        EXPECT_EQ(tensor->dl_tensor.device.device_id, on_gpu ? context.device().index : 0);
        const Array here = zeros(context, {4}, Slab(0), Dtype::i8,
                                 {.residency = residency, .order = order, .space = MemorySpace::host});
        const Tensor of_host(to_dlpack(here));
        EXPECT_EQ(of_host->dl_tensor.device.device_type, kDLCPU);
        EXPECT_EQ(of_host->dl_tensor.device.device_id, 0);
      }
    }
  });
}

TEST(Dlpack, ShowsStridesOfWrappedMemoryAndScalars) {
  on_context([](Context& context) {
    std::vector<float> memory(6 * 10);
    const View view{memory.data() + 1, Dtype::f32, {6, 4}, {10, 2}, MemorySpace::host};
    const Array strided = wrap(context, view, Replicated{}, {6, 4});
    const Tensor tensor(to_dlpack(strided));
    expect_same(tensor->dl_tensor, strided);
    EXPECT_EQ(tensor->dl_tensor.strides[1], 2);
    const Array scalar = zeros(context, {}, Replicated{}, Dtype::f64);
    const Tensor of_scalar(to_dlpack(scalar));
    EXPECT_EQ(of_scalar->dl_tensor.ndim, 0);
    EXPECT_THROW(to_dlpack(Array{}), ArgumentError);
  });
}

TEST(Dlpack, KeepsMemoryAfterArrayAndContextAreGone) {
  Tensor tensors[64];
  on_context([&tensors](Context& outer) {
    Tensor& tensor = tensors[outer.rank()];
    {
      const std::vector<int> all = [&] {
        std::vector<int> ranks;
        for (int rank = 0; rank < outer.size(); ++rank) ranks.push_back(rank);
        return ranks;
      }();
      const Context context = outer.subgroup(all);
      Array array = empty(context, {9, 4}, Slab(0), Dtype::i32, {.space = MemorySpace::host});
      fill(array, std::int32_t{100 + outer.rank()});
      tensor.reset(to_dlpack(array));
    }
    const DLTensor& seen = tensor->dl_tensor;
    for (std::int64_t i = 0; i < seen.shape[0] * seen.shape[1]; ++i) {
      EXPECT_EQ(static_cast<const std::int32_t*>(seen.data)[i], 100 + outer.rank());
    }
    std::thread([&tensor] { tensor.reset(); }).join();
  });
}

TEST(Dlpack, GivesTheBlockBackWhenItsDeleterHasRun) {
  on_context([](Context& context) {
    for (const bool symmetric : {true, false}) {
      const void* first = nullptr;
      {
        Tensor tensor;
        if (symmetric) {
          SymmetricMemory memory = SymmetricMemory::allocate(context, 48 * 4);
          first = memory.data();
          tensor.reset(to_dlpack(context, std::move(memory), Dtype::f32, {6, 8}));
          EXPECT_EQ(tensor->dl_tensor.strides[0], 8);
        } else {
          tensor.reset(to_dlpack(empty(context, {48 * context.size()}, Slab(0), Dtype::f32)));
          first = tensor->dl_tensor.data;
        }
        EXPECT_EQ(tensor->dl_tensor.data, first);
        context.collect();
        // Kept: no other allocation gets it.
        const SymmetricMemory other = SymmetricMemory::allocate(context, 48 * 4);
        EXPECT_NE(other.data(), first);
        std::thread([&tensor] { tensor.reset(); }).join();
      }
      context.collect();
      const SymmetricMemory again = SymmetricMemory::allocate(context, 48 * 4);
      EXPECT_EQ(again.data(), first);
    }
  });
}

TEST(Dlpack, RefusesWhatDoesNotFitIntoTheBlock) {
  on_context([](Context& context) {
    EXPECT_THROW(to_dlpack(context, SymmetricMemory(), Dtype::f32, {1}), ArgumentError);
    EXPECT_THROW(to_dlpack(context, SymmetricMemory::allocate(context, 64), Dtype::f64, {3, 3}),
                 ArgumentError);
    context.barrier();
  });
}

/// A tensor of a test's own, which counts how often it has ended.
struct Foreign {
  DLManagedTensor tensor{};
  std::vector<double> memory = std::vector<double>(24, 7.0);
  std::array<std::int64_t, 2> shape{8, 3};
  int ended = 0;

  Foreign() {
    tensor.dl_tensor.data = memory.data();
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = 2;
    tensor.dl_tensor.dtype = {kDLFloat, 64, 1};
    tensor.dl_tensor.shape = shape.data();
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->ended; };
  }
};

TEST(Dlpack, ArraysOnForeignTensorsEndThemOnce) {
  on_context([](Context& context) {
    Foreign foreign;
    foreign.tensor.dl_tensor.byte_offset = 8;
    foreign.memory.push_back(7.0);
    foreign.tensor.dl_tensor.data = foreign.memory.data();
    {
      const Array array = from_dlpack(context, &foreign.tensor, Slab(0), {8 * context.size(), 3});
      const Array copy = array;  // NOLINT(performance-unnecessary-copy-initialization)
      EXPECT_EQ(copy.local().data, foreign.memory.data() + 1);
      EXPECT_EQ(copy.local().strides, (Strides{3, 1}));
      EXPECT_EQ(copy.dtype(), Dtype::f64);
      EXPECT_EQ(foreign.ended, 0);
    }
    EXPECT_EQ(foreign.ended, 1);
  });
}

TEST(Dlpack, TakesVersionedTensors) {
  on_context([](Context& context) {
    Foreign foreign;
    int ended = 0;
    DLManagedTensorVersioned tensor{};
    tensor.version.major = 1;
    tensor.manager_ctx = &ended;
    tensor.deleter = [](DLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager_ctx); };
    tensor.dl_tensor = foreign.tensor.dl_tensor;
    const Array array = from_dlpack(context, &tensor, Slab(0), {8 * context.size(), 3});
    EXPECT_EQ(array.local().data, foreign.memory.data());
    tensor.version.major = 2;
    EXPECT_ERROR(ArgumentError, from_dlpack(context, &tensor, Slab(0), {8 * context.size(), 3}),
                 "DLPack 2.0");
    EXPECT_EQ(ended, 1);
  });
}

TEST(Dlpack, GoesOutAndComesBackWithoutACopy) {
  on_context([](Context& context) {
    for (const Residency residency : {Residency::heap, Residency::ordinary}) {
      Array array = empty(context, {7, 5}, Slab(0), Dtype::bf16,
                          {.residency = residency, .order = Order::column_major});
      fill(array, BFloat16(3.0f));
      const void* const data = array.local().data;
      const Array again = from_dlpack(context, to_dlpack(array), Slab(0), {7, 5});
      array = Array();
      EXPECT_EQ(again.local().data, data);
      EXPECT_EQ(again.operand().residency, residency);
      EXPECT_EQ(again.local().space,
                context.device().kind == Device::Kind::cuda ? MemorySpace::device : MemorySpace::host);
      const Array rows = redistribute(again, Slab(1));
      const Array whole = zeros(context, {7, 5}, Slab(1), Dtype::bf16);
      EXPECT_EQ(compare(rows, whole).largest_difference, 3);
    }
  });
}

TEST(Dlpack, RefusesForeignTensorsOnAllRanksAndEndsThem) {
  on_context([](Context& context) {
    const Shape shape{8 * context.size(), 3};
    const bool odd_one = context.rank() == context.size() - 1;
    const auto refused = [&](const std::function<void(DLTensor&)>& spoil) {
      Foreign foreign;
      if (odd_one) spoil(foreign.tensor.dl_tensor);
      std::string text =
          caught<ArgumentError>([&] { (void)from_dlpack(context, &foreign.tensor, Slab(0), shape); });
      EXPECT_EQ(foreign.ended, 1);
      return text;
    };
    EXPECT_TRUE(contains(refused([](DLTensor& tensor) { tensor.dtype.bits = 80; }), "unknown dtype"));
    EXPECT_TRUE(contains(refused([](DLTensor& tensor) { tensor.dtype.lanes = 2; }), "2 lanes"));
    EXPECT_TRUE(contains(refused([](DLTensor& tensor) { tensor.ndim = 9; }), "9 dimensions"));
    EXPECT_TRUE(contains(refused([](DLTensor& tensor) { tensor.shape[0] = 5; }), "5x3"));
    EXPECT_TRUE(
        contains(refused([](DLTensor& tensor) { tensor.device.device_type = kDLOpenCL; }), "device type"));
    Foreign foreign;
    EXPECT_ERROR(ArgumentError, from_dlpack(context, odd_one ? nullptr : &foreign.tensor, Slab(0), shape),
                 "there is no tensor");
    EXPECT_EQ(foreign.ended, odd_one ? 0 : 1);
    EXPECT_FALSE(context.failed());
  });
}

TEST(Dlpack, RefusesATensorOfAnotherDevice) {
  NEEDS_DEVICES();
  on_context([](Context& context) {
    Foreign foreign;
    foreign.tensor.dl_tensor.device = {kDLCUDA, 77};
    EXPECT_ERROR(ArgumentError, from_dlpack(context, &foreign.tensor, Slab(0), {8 * context.size(), 3}),
                 "is on device 77");
    EXPECT_EQ(foreign.ended, 1);
  });
}

TEST(Dlpack, TheStreamOfTheReaderComesAfterTheContexts) {
  if (!tests_fake_devices()) GTEST_SKIP() << "needs PARTITA_TEST_DEVICE=fake";
  on_context([](Context& context) {
    Array array = zeros(context, {64, 3}, Slab(0), Dtype::f64);
    const FakeStream mine, other;
    for (const Stream writer : {Stream(), mine.stream()}) {
      fill(array, 0.0);
      delay_fake_stream(writer.given ? writer : context.stream(), std::chrono::milliseconds(20));
      fill(array, 6.0, writer);
      const Tensor tensor(to_dlpack(array, other.stream()));
      const auto* const seen = static_cast<const double*>(tensor->dl_tensor.data);
      std::promise<bool> good;
      put_into_fake_stream(other.stream(), [&good, seen, count = array.local_size()] {
        good.set_value(std::all_of(seen, seen + count, [](double value) { return value == 6; }));
      });
      EXPECT_TRUE(good.get_future().get());
    }
    context.synchronize();
  });
}

}  // namespace
}  // namespace partita::testing
