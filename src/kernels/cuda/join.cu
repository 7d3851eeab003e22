// Small exchanges that pack and join, in one launch: a launch a step would take longer than the data.
#include "kernels/cuda/copy.cuh"
#include "kernels/cuda/flags.cuh"
#include "kernels/cuda/joining.cuh"

namespace partita::cuda {
namespace {

/// Ranks that share a device must all find room on it: every block waits for every other one.
constexpr unsigned most_blocks_of_an_exchange = 32;

/// How one job is dealt out: in units of `width` bytes.
struct Dealt {
  Deal deal;
  unsigned lanes = 1;
  int width = 1;
};

struct Deals {
  Dealt pack[most_jobs], copy[most_jobs], join[most_joins];
};

__device__ void copy_job(const Job& job, const Dealt& dealt) {
  switch (dealt.width) {
    case 16:
      return copy_nest<uint4, std::uint32_t>(job.nest, dealt.deal, dealt.lanes, job.from, job.to);
    case 8:
      return copy_nest<std::uint64_t, std::uint32_t>(job.nest, dealt.deal, dealt.lanes, job.from, job.to);
    case 4:
      return copy_nest<std::uint32_t, std::uint32_t>(job.nest, dealt.deal, dealt.lanes, job.from, job.to);
    case 2:
      return copy_nest<std::uint16_t, std::uint32_t>(job.nest, dealt.deal, dealt.lanes, job.from, job.to);
    default:
      return copy_nest<std::uint8_t, std::uint32_t>(job.nest, dealt.deal, dealt.lanes, job.from, job.to);
  }
}

/// Loads from so many sources are under way before the first is used.
constexpr int at_once = 3;

template <Reduction operation, class Unit>
__device__ void join_units(const Join& join, const Dealt& dealt) {
  for_each_segment<std::uint32_t>(
      join.nest, dealt.deal, dealt.lanes,
      [&](const RowOffsets& row, std::int64_t first, std::int64_t end, unsigned step) {
        const auto source = [&](int s) {
          return reinterpret_cast<const Unit*>(static_cast<const char*>(join.from[s]) + row.from);
        };
        Unit* const destination = reinterpret_cast<Unit*>(static_cast<char*>(join.to) + row.to);
        for (std::int64_t i = first; i < end; i += step) {
          Unit sum = source(0)[i];
          for (int s = 1; s < join.count; s += at_once) {
            Unit parts[at_once];
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
              if (s + k < join.count) parts[k] = source(s + k)[i];
            }
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
              if (s + k < join.count) sum = joined<operation>(sum, parts[k]);
            }
          }
          destination[i] = sum;
        }
      });
}

struct JoinJob {
  const Join& join;
  const Dealt& dealt;

  template <class T, Reduction operation>
  __device__ void run() const {
    if (dealt.width == 16) {
      join_units<operation, Together<T, 16>>(join, dealt);
    } else {
      join_units<operation, Together<T, sizeof(T)>>(join, dealt);
    }
  }
};

__device__ void join_job(const Join& join, const Dealt& dealt) {
  join_as(join.element, join.operation, JoinJob{join, dealt});
}

/// Every block has come here, and what it wrote is visible. `counters`: blocks that have come, and how often
/// all have.
__device__ void meet(unsigned* counters) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned times = atomicAdd(&counters[1], 0U);
    if (atomicAdd(&counters[0], 1U) == gridDim.x - 1) {
      counters[0] = 0;
      __threadfence();
      atomicAdd(&counters[1], 1U);
    } else {
      unsigned seen = times;
      while (seen == times) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&counters[1]) : "memory");
      }
    }
    __threadfence_system();
  }
  __syncthreads();
}

__global__ void join_exchange(const __grid_constant__ JoinExchange all, const __grid_constant__ Deals deals) {
  for (int i = 0; i < all.packs; ++i) copy_job(all.pack[i], deals.pack[i]);
  if (all.packs > 0) meet(all.counters + 1);
  const int thread = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0 && thread < all.early_signals.count) release(all.early_signals.flags[thread]);
  if (thread < all.early_waits.count) await(all.early_waits, thread);
  __syncthreads();
  for (int i = 0; i < all.copies; ++i) copy_job(all.copy[i], deals.copy[i]);
  for (int i = 0; i < all.joins; ++i) join_job(all.join[i], deals.join[i]);
  close(all.late_signals, all.late_waits, all.early_signals, all.early_waits, all.counters);
}

Dealt dealt(const Nest& nest, int width) {
  Dealt result;
  result.deal = deal_of(nest, width);
  result.width = width;
  result.lanes = shape_of(result.deal).lanes;
  return result;
}

Dealt dealt(const Join& join) {
  std::uint64_t alignment = 16;
  for (int s = 0; s < join.count; ++s) {
    alignment = std::min(alignment, alignment_of(join.nest, join.from[s], join.to));
  }
  return dealt(join.nest, alignment == 16 ? 16 : static_cast<int>(size_of(join.element)));
}

}  // namespace

bool joins(Dtype element, Reduction operation) {
  if (operation > Reduction::max) return false;
  switch (element) {
    case Dtype::i32:
    case Dtype::i64:
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::f32:
    case Dtype::f64:
      return true;
    default:
      return false;
  }
}

int launch_join_exchange(const JoinExchange& exchange, void* stream) {
  Deals deals;
  unsigned blocks = 1;
  const auto take = [&](const Dealt& one) {
    return blocks = std::max(blocks, shape_of(one.deal).blocks), one;
  };
  const auto of_job = [](const Job& job) {
    return dealt(job.nest, static_cast<int>(alignment_of(job.nest, job.from, job.to)));
  };
  for (int i = 0; i < exchange.packs; ++i) deals.pack[i] = take(of_job(exchange.pack[i]));
  for (int i = 0; i < exchange.copies; ++i) deals.copy[i] = take(of_job(exchange.copy[i]));
  for (int i = 0; i < exchange.joins; ++i) deals.join[i] = take(dealt(exchange.join[i]));
  blocks = std::min(blocks, most_blocks_of_an_exchange);
  join_exchange<<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(exchange, deals);
  return cudaGetLastError();
}

int load_join_kernel() {
  return load(join_exchange);
}

}  // namespace partita::cuda
