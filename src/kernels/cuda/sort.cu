// Sorting by CUB's radix sort, of keys: unsigned integers in the order of the elements, those of NaN the last
// ones. With positions the keys of 0 and -0 are equal, too. Without, elements are made of the sorted keys.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/sort_launch.hpp"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

enum class Kind : std::uint8_t { without_sign, with_sign, floating };

/// How the bits of a dtype are ordered.
struct Bits {
  Kind kind = Kind::without_sign;
  std::uint64_t infinity = 0;  // of floating-point numbers
  bool merges_zeros = false;
  bool descending = false;
};

template <class Key>
__host__ __device__ constexpr Key sign_of() {
  return static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
}

template <class Key>
__device__ Key key_of(Key bits, const Bits& how) {
  const Key sign = sign_of<Key>();
  Key key = bits;
  if (how.kind == Kind::with_sign) key = static_cast<Key>(bits ^ sign);
  if (how.kind == Kind::floating) {
    const Key magnitude = static_cast<Key>(bits & static_cast<Key>(~sign));
    if (how.merges_zeros && magnitude == 0) bits = 0;
    key = (bits & sign) != 0 ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
    if (magnitude > static_cast<Key>(how.infinity)) key = static_cast<Key>(~Key{0});
  }
  return how.descending ? static_cast<Key>(~key) : key;
}

template <class Key>
__device__ Key bits_of(Key key, const Bits& how) {
  const Key sign = sign_of<Key>();
  if (how.descending) key = static_cast<Key>(~key);
  if (how.kind == Kind::with_sign) return static_cast<Key>(key ^ sign);
  if (how.kind == Kind::floating)
    return (key & sign) != 0 ? static_cast<Key>(key & static_cast<Key>(~sign)) : static_cast<Key>(~key);
  return key;
}

template <class Body>
__device__ void for_each_element(std::int64_t count, const Body& body) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    body(i);
}

template <class Key>
__global__ void write_keys(const Key* from, Key* keys, std::uint32_t* positions, std::int64_t count,
                           Bits how) {
  for_each_element(count, [&](std::int64_t i) {
    keys[i] = key_of(from[i], how);
    if (positions != nullptr) positions[i] = static_cast<std::uint32_t>(i);
  });
}

template <class Key>
__global__ void read_keys(const Key* keys, Key* to, std::int64_t count, Bits how) {
  for_each_element(count, [&](std::int64_t i) { to[i] = bits_of(keys[i], how); });
}

/// `to`: null if the elements are not wanted, whose places in memory are far apart.
template <class Key>
__global__ void write_order(const std::uint32_t* positions, const Key* from, Key* to, std::int64_t* order,
                            std::int64_t count) {
  for_each_element(count, [&](std::int64_t i) {
    order[i] = positions[i];
    if (to != nullptr) to[i] = from[positions[i]];
  });
}

Bits bits_of(const Sort& what) {
  Bits how;
  how.descending = what.descending;
  how.merges_zeros = what.order != nullptr;
  if (is_integer(what.dtype)) {
    how.kind = is_signed(what.dtype) ? Kind::with_sign : Kind::without_sign;
  } else if (what.dtype != Dtype::boolean) {
    how.kind = Kind::floating;
    how.infinity = what.dtype == Dtype::f64   ? 0x7ff0000000000000U
                   : what.dtype == Dtype::f32 ? 0x7f800000U
                   : what.dtype == Dtype::f16 ? 0x7c00U
                                              : 0x7f80U;
  }
  return how;
}

std::int64_t rounded_up(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Where a sort keeps what: two buffers of keys, and with an order two of positions; then CUB's own memory.
template <class Key>
class Sorting {
 public:
  Sorting(const Sort& what, char* scratch) : what_(what) {
    const std::int64_t keys = rounded_up(what.count * static_cast<std::int64_t>(sizeof(Key)));
    keys_ = {reinterpret_cast<Key*>(scratch), reinterpret_cast<Key*>(scratch + keys)};
    own_ = 2 * keys;
    if (what.order == nullptr) return;
    const std::int64_t positions = rounded_up(what.count * 4);
    positions_ = {reinterpret_cast<std::uint32_t*>(scratch + own_),
                  reinterpret_cast<std::uint32_t*>(scratch + own_ + positions)};
    own_ += 2 * positions;
  }

  std::int64_t own_bytes() const { return own_; }

  /// As CUB's functions: with a null `memory`, only the bytes.
  cudaError_t sort(void* memory, std::size_t& bytes, cudaStream_t stream) {
    constexpr int end = 8 * sizeof(Key);
    return what_.order == nullptr
               ? cub::DeviceRadixSort::SortKeys(memory, bytes, keys_, what_.count, 0, end, stream)
               : cub::DeviceRadixSort::SortPairs(memory, bytes, keys_, positions_, what_.count, 0, end,
                                                 stream);
  }

  cudaError_t run(void* memory, std::size_t bytes, cudaStream_t stream) {
    const unsigned blocks = blocks_for(what_.count);
    const Bits how = bits_of(what_);
    const Key* const from = static_cast<const Key*>(what_.from);
    Key* const to = static_cast<Key*>(what_.to);
    write_keys<Key><<<blocks, threads_per_block, 0, stream>>>(
        from, keys_.Current(), what_.order == nullptr ? nullptr : positions_.Current(), what_.count, how);
    if (const cudaError_t error = sort(memory, bytes, stream); error != cudaSuccess) return error;
    if (what_.order == nullptr) {
      read_keys<Key><<<blocks, threads_per_block, 0, stream>>>(keys_.Current(), to, what_.count, how);
    } else {
      write_order<Key><<<blocks, threads_per_block, 0, stream>>>(positions_.Current(), from, to, what_.order,
                                                                 what_.count);
    }
    return cudaGetLastError();
  }

 private:
  const Sort& what_;
  cub::DoubleBuffer<Key> keys_;
  cub::DoubleBuffer<std::uint32_t> positions_;
  std::int64_t own_ = 0;
};

template <class Key>
int find_bytes(const Sort& what, std::int64_t& bytes) {
  Sorting<Key> sorting(what, nullptr);
  std::size_t more = 0;
  const cudaError_t error = sorting.sort(nullptr, more, nullptr);
  bytes = sorting.own_bytes() + static_cast<std::int64_t>(more);
  return error;
}

template <class Key>
int run(const Sort& what, void* scratch, cudaStream_t stream) {
  Sorting<Key> sorting(what, static_cast<char*>(scratch));
  std::size_t more = 0;
  if (const cudaError_t error = sorting.sort(nullptr, more, stream); error != cudaSuccess) return error;
  return sorting.run(static_cast<char*>(scratch) + sorting.own_bytes(), more, stream);
}

}  // namespace

int find_sort_scratch(const Sort& what, std::int64_t& bytes) {
  return with_unsigned(what.dtype, [&](auto key) { return find_bytes<decltype(key)>(what, bytes); });
}

int load_sort_kernels() {
  for (const Dtype dtype : {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64}) {
    std::int64_t order = 0, bytes = 0;
    for (std::int64_t* const wanted : {static_cast<std::int64_t*>(nullptr), &order}) {
      if (const int error = find_sort_scratch({dtype, false, 1 << 24, nullptr, nullptr, wanted}, bytes);
          error != 0)
        return error;
    }
    const int error = with_unsigned(dtype, [](auto key) {
      using Key = decltype(key);
      using Write = void (*)(const Key*, Key*, std::uint32_t*, std::int64_t, Bits);
      using Read = void (*)(const Key*, Key*, std::int64_t, Bits);
      using Order = void (*)(const std::uint32_t*, const Key*, Key*, std::int64_t*, std::int64_t);
      constexpr Write write[] = {write_keys<Key>};
      constexpr Read read[] = {read_keys<Key>};
      constexpr Order order_of[] = {write_order<Key>};
      for (const int one : {load_each(write), load_each(read), load_each(order_of)}) {
        if (one != 0) return one;
      }
      return 0;
    });
    if (error != 0) return error;
  }
  return 0;
}

int launch_sort(const Sort& what, void* scratch, void* stream) {
  return with_unsigned(what.dtype, [&](auto key) {
    return run<decltype(key)>(what, scratch, static_cast<cudaStream_t>(stream));
  });
}

}  // namespace partita::kernels::cuda
