// Small exchanges that pack before, in one launch: a launch a step would take longer than the data.
#include "kernels/cuda/copy.cuh"
#include "kernels/cuda/flags.cuh"

namespace partita::kernels::cuda {
namespace {

/// Every block waits for every other one, and more take longer for that.
constexpr unsigned most_blocks_of_an_exchange = 32;

/// How one job is distributed: in units of `width` bytes.
struct Dealt {
  Deal deal;
  unsigned lanes = 1;
  int width = 1;
};

struct Deals {
  Dealt pack[most_jobs], copy[most_jobs];
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

__global__ void __launch_bounds__(threads_per_block, pack_blocks_per_multiprocessor)
    pack_exchange(const __grid_constant__ PackExchange all, const __grid_constant__ Deals deals) {
  for (int i = 0; i < all.packs; ++i) copy_job(all.pack[i], deals.pack[i]);
  const Exchange& rest = all.rest;
  meet(rest.finished_blocks + 1);
  const int thread = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0 && thread < rest.early_signals.count) release(rest.early_signals.flags[thread]);
  if (thread < rest.early_waits.count) await(rest.early_waits, thread);
  __syncthreads();
  for (int i = 0; i < rest.count; ++i) copy_job(rest.jobs[i], deals.copy[i]);
  close(rest.late_signals, rest.late_waits, rest.early_signals, rest.early_waits, rest.finished_blocks);
}

Dealt dealt(const Nest& nest, int width) {
  Dealt result;
  result.deal = deal_of(nest, width);
  result.width = width;
  result.lanes = shape_of(result.deal).lanes;
  return result;
}

}  // namespace

int launch_pack_exchange(const PackExchange& exchange, void* stream) {
  Deals deals;
  unsigned blocks = 1;
  const auto take = [&](const Dealt& one) {
    return blocks = std::max(blocks, shape_of(one.deal).blocks), one;
  };
  const auto of_job = [](const Job& job) {
    return dealt(job.nest, static_cast<int>(alignment_of(job.nest, job.from, job.to)));
  };
  for (int i = 0; i < exchange.packs; ++i) deals.pack[i] = take(of_job(exchange.pack[i]));
  for (int i = 0; i < exchange.rest.count; ++i) deals.copy[i] = take(of_job(exchange.rest.jobs[i]));
  blocks = std::min({blocks, most_blocks_of_an_exchange, exchange.rest.most_blocks});
  pack_exchange<<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(exchange, deals);
  return cudaGetLastError();
}

int load_pack_kernel() {
  return load(pack_exchange);
}

}  // namespace partita::kernels::cuda
