// Strided copies and fills on a device: any memory that it reaches, in accesses as wide as both sides allow.
#include "kernels/cuda/copy.cuh"
#include "kernels/cuda/flags.cuh"

namespace partita::kernels::cuda {
namespace {

__global__ void flags_in_order(const __grid_constant__ Flags flags) {
  bool is_fenced = false;
  for (int i = 0; i < flags.count; ++i) {
    const Flags::One& one = flags.flags[i];
    if (one.waits) {
      await(flags, i);
    } else if (!one.fenced) {
      write(one);
    } else {
      if (!is_fenced) __threadfence_system();
      is_fenced = true;
      release(one);
    }
    advance(one);
  }
}

/// Less than what a multiprocessor has room for: see Exchange::most_blocks.
constexpr int exchange_blocks_per_multiprocessor = 4;

struct JobUnits {
  Units jobs[most_jobs];
};

/// A row of blocks a copy, so that all links are busy at once. Every block waits for the grants; the last one
/// to finish tells the peers and waits for them.
template <class Unit, class Number>
__global__ void __launch_bounds__(threads_per_block, exchange_blocks_per_multiprocessor)
    exchange_jobs(const __grid_constant__ Exchange all, const __grid_constant__ JobUnits units) {
  const int thread = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0 && blockIdx.y == 0 && thread < all.early_signals.count) {
    release(all.early_signals.flags[thread]);
  }
  if (thread < all.early_waits.count) await(all.early_waits, thread);
  __syncthreads();
  if (blockIdx.y < static_cast<unsigned>(all.count)) {
    const Job& job = all.jobs[blockIdx.y];
    copy_unit_by_unit<Unit>(job.nest, units.jobs[blockIdx.y],
                            static_cast<Number>(blockIdx.x * blockDim.x + threadIdx.x),
                            static_cast<Number>(gridDim.x * blockDim.x), job.from, job.to);
  }
  close(all.late_signals, all.late_waits, all.early_signals, all.early_waits, all.finished_blocks);
}

/// to[...] = from[...] in units of `Unit`.
template <class Unit, class Number>
__global__ void copy_rows(const __grid_constant__ Nest nest, const __grid_constant__ Deal deal,
                          unsigned lanes, const void* from, void* to) {
  copy_nest<Unit, Number>(nest, deal, lanes, from, to);
}

template <class Unit, class Number>
__global__ void fill_rows(const __grid_constant__ Nest nest, const __grid_constant__ Deal deal,
                          unsigned lanes, Pattern pattern, char* to) {
  // A unit narrower than the element is one of its parts; rows begin with an element.
  constexpr int parts = static_cast<int>(sizeof(Pattern) / sizeof(Unit));
  for_each_segment<Number>(nest, deal, lanes,
                           [&](const RowOffsets& row, std::int64_t first, std::int64_t end, unsigned step) {
                             Unit* const destination = reinterpret_cast<Unit*>(to + row.to);
                             for (std::int64_t i = first; i < end; i += step) {
                               destination[i] = reinterpret_cast<const Unit*>(&pattern)[i % parts];
                             }
                           });
}

bool needs_64_bits(const Deal& deal) {
  return deal.tasks >= (std::int64_t{1} << 31);
}

template <class Unit>
int copy_in_units(const Nest& nest, const void* from, void* to, unsigned most_blocks, cudaStream_t stream) {
  const Deal deal = deal_of(nest, sizeof(Unit));
  Shape shape = shape_of(deal);
  if (most_blocks > 0) shape.blocks = std::min(shape.blocks, most_blocks);
  if (needs_64_bits(deal)) {
    copy_rows<Unit, std::uint64_t>
        <<<shape.blocks, threads_per_block, 0, stream>>>(nest, deal, shape.lanes, from, to);
  } else {
    copy_rows<Unit, std::uint32_t>
        <<<shape.blocks, threads_per_block, 0, stream>>>(nest, deal, shape.lanes, from, to);
  }
  return cudaGetLastError();
}

template <class Unit>
int exchange_in_units(const Exchange& all, cudaStream_t stream) {
  JobUnits units;
  std::int64_t most = 1;
  for (int i = 0; i < all.count; ++i) {
    units.jobs[i] = units_of(all.jobs[i].nest, sizeof(Unit));
    most = std::max(most, units.jobs[i].all);
  }
  const auto jobs = static_cast<unsigned>(std::max(all.count, 1));
  const std::int64_t wanted = (most + threads_per_block - 1) / threads_per_block;
  const auto room = static_cast<std::int64_t>(std::max(all.most_blocks / jobs, 1U));
  const dim3 blocks(static_cast<unsigned>(std::min(wanted, room)), jobs);
  if (most < std::int64_t{1} << 31) {
    exchange_jobs<Unit, std::uint32_t><<<blocks, threads_per_block, 0, stream>>>(all, units);
  } else {
    exchange_jobs<Unit, std::uint64_t><<<blocks, threads_per_block, 0, stream>>>(all, units);
  }
  return cudaGetLastError();
}

template <class Unit>
int fill_in_units(const Nest& nest, const Pattern& pattern, void* to, cudaStream_t stream) {
  const Deal deal = deal_of(nest, sizeof(Unit));
  const Shape shape = shape_of(deal);
  auto* const destination = static_cast<char*>(to);
  if (needs_64_bits(deal)) {
    fill_rows<Unit, std::uint64_t>
        <<<shape.blocks, threads_per_block, 0, stream>>>(nest, deal, shape.lanes, pattern, destination);
  } else {
    fill_rows<Unit, std::uint32_t>
        <<<shape.blocks, threads_per_block, 0, stream>>>(nest, deal, shape.lanes, pattern, destination);
  }
  return cudaGetLastError();
}

template <class Unit>
int load_units() {
  return load(copy_rows<Unit, std::uint32_t>, copy_rows<Unit, std::uint64_t>, fill_rows<Unit, std::uint32_t>,
              fill_rows<Unit, std::uint64_t>, exchange_jobs<Unit, std::uint32_t>,
              exchange_jobs<Unit, std::uint64_t>, flags_in_order);
}

/// work(Unit{}) of the unit of so many bytes.
template <class Work>
int in_units(std::uint64_t bytes, const Work& work) {
  switch (bytes) {
    case 16:
      return work(uint4{});
    case 8:
      return work(std::uint64_t{});
    case 4:
      return work(std::uint32_t{});
    case 2:
      return work(std::uint16_t{});
    default:
      return work(std::uint8_t{});
  }
}

}  // namespace

int launch_copy(const Nest& nest, const void* from, void* to, unsigned most_blocks, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  return in_units(alignment_of(nest, from, to), [&](auto unit) {
    return copy_in_units<decltype(unit)>(nest, from, to, most_blocks, queue);
  });
}

int launch_exchange(const Exchange& exchange, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  std::uint64_t alignment = 16;
  for (int i = 0; i < exchange.count; ++i) {
    const Job& job = exchange.jobs[i];
    alignment = std::min(alignment, alignment_of(job.nest, job.from, job.to));
  }
  return in_units(alignment, [&](auto unit) { return exchange_in_units<decltype(unit)>(exchange, queue); });
}

int launch_flags(const Flags& flags, void* stream) {
  flags_in_order<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(flags);
  return cudaGetLastError();
}

int launch_fill(const Nest& nest, const Pattern& pattern, void* to, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  return in_units(alignment_of(nest, to, to),
                  [&](auto unit) { return fill_in_units<decltype(unit)>(nest, pattern, to, queue); });
}

int load_copy_kernels() {
  for (const std::uint64_t bytes : {1, 2, 4, 8, 16}) {
    const int result = in_units(bytes, [](auto unit) { return load_units<decltype(unit)>(); });
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
