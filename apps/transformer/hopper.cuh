// What Hopper's own kernels are made of: barriers in shared memory, copies of tiles by the tensor memory
// accelerator, and products by groups of four warps (wgmma). For compute capability 9.0 alone.
//
// A tile is [columns / 64][rows][64] numbers of 16 bits: slabs of rows of 128 bytes, in which the accelerator
// swaps pieces of 16 bytes (piece p of row r is at p xor r % 8), so that neither rows nor columns collide
// in the banks. Slabs begin at multiples of 1024 bytes.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace transformer::cuda {

using Bf16 = __nv_bfloat16;

constexpr int slab = 64;  ///< columns of a slab, and rows that one copy moves

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- barriers

using Barrier = std::uint64_t;

__device__ inline void make_barrier(Barrier& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals));
}
/// Before the block's threads meet: what has been made is seen by the accelerator.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}
/// Arrives for the warp: none of its threads reads what the barrier protects any more.
__device__ inline void release(Barrier& barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(barrier);
}
/// Arrives, and so many bytes are to follow.
__device__ inline void expect(Barrier& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(bytes)
               : "memory");
}
/// Until the phase of this parity is over.
__device__ inline void wait(Barrier& barrier, unsigned parity) {
  unsigned over = 0;
  while (over == 0) {
    asm volatile(
        "{\n"
        ".reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.u32 %0, 1, 0, over;\n"
        "}\n"
        : "=r"(over)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
  }
}

/// A place in a ring of stages, and how often it has come round. A producer's barriers begin as passed.
template <int Stages>
struct Turn {
  int stage = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++stage < Stages) return;
    stage = 0;
    parity ^= 1;
  }
};

// --- copies

/// Numbers from (column, row, head, batch) on; what is beyond the array is 0.
__device__ inline void load_box(const CUtensorMap& map, Barrier& barrier, Bf16* to, int column, int row, int head,
                                int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
      "%5}], [%6];" ::"r"(shared_address(to)),
      "l"(&map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(shared_address(&barrier))
      : "memory");
}
template <int Rows, int Columns>
__device__ void load_tile(const CUtensorMap& map, Barrier& barrier, Bf16* to, int row, int head, int batch) {
#pragma unroll
  for (int column = 0; column < Columns; column += slab) {
#pragma unroll
    for (int first = 0; first < Rows; first += slab)
      load_box(map, barrier, to + column * Rows + first * slab, column, row + first, head, batch);
  }
}
/// Dense numbers: a multiple of 16 bytes, at one.
__device__ inline void load_line(const void* from, Barrier& barrier, void* to, unsigned bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}
/// From one thread; what is beyond the array is left out.
__device__ inline void store_box(const CUtensorMap& map, const Bf16* from, int column, int row, int head,
                                 int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
      "r"(column), "r"(row), "r"(head), "r"(batch), "r"(shared_address(from))
      : "memory");
}
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
/// What this thread wrote to shared memory is seen by copies and products, once all have met.
__device__ inline void publish_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// The threads of a warp group meet.
__device__ inline void meet(int barrier) {
  asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory");
}

// --- registers

/// Of a block of three groups of four warps with 168 registers per thread, a group that copies leaves most
/// of its registers to the two that compute.
__device__ inline void leave_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
}
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
}

// --- products

/// A place in a tile, as products read it: the lower half of a descriptor, in units of 16 bytes.
__device__ inline std::uint32_t place(const void* pointer) {
  return (shared_address(pointer) & 0x3FFFF) >> 4;
}
/// The whole of it. So many bytes are between slabs; 8 rows are 1024, pieces are swapped.
template <int Leading>
__device__ std::uint64_t descriptor(std::uint32_t place) {
  constexpr std::uint32_t upper = 1024 >> 4 | 1U << 30;
  std::uint64_t whole;
  asm("mov.b64 %0, {%1, %2};" : "=l"(whole) : "r"(place | (Leading >> 4) << 16), "n"(upper));
  return whole;
}

/// Registers that products read or write, before the first of them...
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// ...and until all but the last `Pending` groups are done.
template <int Pending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// The compiler does not move what reads or writes these to the other side.
template <int N>
__device__ void settle(float (&registers)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

// Accumulators of 64 rows and 64 or 128 columns: their names in assembly, and as operands.
#define PARTITA_NAMES_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define PARTITA_NAMES_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PARTITA_EIGHT(C, d, i) \
  C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3]), C(d[i + 4]), C(d[i + 5]), C(d[i + 6]), C(d[i + 7])
#define PARTITA_OPERANDS_32(C, d) \
  PARTITA_EIGHT(C, d, 0), PARTITA_EIGHT(C, d, 8), PARTITA_EIGHT(C, d, 16), PARTITA_EIGHT(C, d, 24)
#define PARTITA_OPERANDS_64(C, d)                                                                           \
  PARTITA_OPERANDS_32(C, d), PARTITA_EIGHT(C, d, 32), PARTITA_EIGHT(C, d, 40), PARTITA_EIGHT(C, d, 48), \
      PARTITA_EIGHT(C, d, 56)

/// d = A B': 64 x 16 by 64 x 16, whose rows are rows of tiles.
__device__ inline void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" PARTITA_NAMES_32 "}, %32, %33, 0, 1, 1, 0, 0;"
               : PARTITA_OPERANDS_32("=f", d)
               : "l"(a), "l"(b));
}
/// d += A B'.
__device__ inline void multiply_add(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" PARTITA_NAMES_32 "}, %32, %33, 1, 1, 1, 0, 0;"
               : PARTITA_OPERANDS_32("+f", d)
               : "l"(a), "l"(b));
}
/// d += A B: A 64 x 16 in registers, the 16 rows of B, of 64 numbers, are rows of a tile.
__device__ inline void multiply_add(float (&d)[32], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" PARTITA_NAMES_32 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
               : PARTITA_OPERANDS_32("+f", d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/// d = A B': 64 x 16 by 128 x 16, whose rows are rows of tiles.
__device__ inline void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" PARTITA_NAMES_64 "}, %64, %65, 0, 1, 1, 0, 0;"
               : PARTITA_OPERANDS_64("=f", d)
               : "l"(a), "l"(b));
}
/// d += A B'.
__device__ inline void multiply_add(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" PARTITA_NAMES_64 "}, %64, %65, 1, 1, 1, 0, 0;"
               : PARTITA_OPERANDS_64("+f", d)
               : "l"(a), "l"(b));
}
/// d += A B: A 64 x 16 in registers, the 16 rows of B, of 128 numbers, are rows of a tile.
__device__ inline void multiply_add(float (&d)[64], const std::uint32_t* a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" PARTITA_NAMES_64 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
               : PARTITA_OPERANDS_64("+f", d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

}  // namespace transformer::cuda
