// Arrays as DLPack tensors, on the host or (PARTITA_TEST_DEVICE) on devices.
#include <dlpack/dlpack.h>

#include <partita/dlpack.hpp>
#include <partita/partita.hpp>
#include <thread>

#include "ranks/array_model.hpp"
#include "ranks/rank_test.hpp"

namespace partita::testing {
namespace {

struct Deleter {
  void operator()(DLManagedTensor* tensor) const { tensor->deleter(tensor); }
};
using Tensor = std::unique_ptr<DLManagedTensor, Deleter>;

void on_context(const std::function<void(Context&)>& body) {
  ContextOptions options;
  options.device = test_device();
  on_ranks(body, options);
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
        {Dtype::boolean, 6, 8}, {Dtype::i8, 0, 8},   {Dtype::u8, 1, 8},    {Dtype::i16, 0, 16},
        {Dtype::u16, 1, 16},    {Dtype::i32, 0, 32}, {Dtype::u32, 1, 32},  {Dtype::i64, 0, 64},
        {Dtype::u64, 1, 64},    {Dtype::f16, 2, 16}, {Dtype::bf16, 4, 16}, {Dtype::f32, 2, 32},
        {Dtype::f64, 2, 64},    {Dtype::c64, 5, 64}, {Dtype::c128, 5, 128}};
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
        const Array array = zeros(context, {7, 5, 3}, Slab(1), Dtype::c64, {residency, order});
        const Tensor tensor(to_dlpack(array));
        expect_same(tensor->dl_tensor, array);
        const bool on_gpu = context.device().kind == Device::Kind::cuda;
        EXPECT_EQ(tensor->dl_tensor.device.device_type, on_gpu ? kDLCUDA : kDLCPU);
        EXPECT_EQ(tensor->dl_tensor.device.device_id, on_gpu ? context.device().index : 0);
        const Array here = zeros(context, {4}, Slab(0), Dtype::i8, {residency, order, MemorySpace::host});
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
      Array array =
          empty(context, {9, 4}, Slab(0), Dtype::i32, {Residency::heap, Order::row_major, MemorySpace::host});
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
        // Kept: nobody else gets it.
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

}  // namespace
}  // namespace partita::testing
