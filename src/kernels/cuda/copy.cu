// Strided copies and fills on a device: any memory that it reaches, in accesses as wide as both sides allow,
// or in tiles if elements have the opposite order.
#include "kernels/cuda/copy.cuh"
#include "kernels/cuda/flags.cuh"
#include "kernels/cuda/transpose.cuh"

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

/// How jobs are distributed over blocks: in tiles, if there are some, else unit by unit.
struct JobDeals {
  Units units[most_jobs];
  Transposition tiles[most_jobs];
};

/// A row of blocks a copy, so that all links are busy at once, where there is room for so many. Every block
/// waits for the grants; the last one to finish tells the peers and waits for them. `transposes`: some jobs
/// are in tiles.
template <class Unit, class Number, bool transposes>
__global__ void __launch_bounds__(threads_per_block, exchange_blocks_per_multiprocessor)
    exchange_jobs(const __grid_constant__ Exchange all, const __grid_constant__ JobDeals deals) {
  const int thread = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0 && blockIdx.y == 0 && thread < all.early_signals.count) {
    release(all.early_signals.flags[thread]);
  }
  if (thread < all.early_waits.count) await(all.early_waits, thread);
  __syncthreads();
  for (unsigned number = blockIdx.y; number < static_cast<unsigned>(all.count); number += gridDim.y) {
    const Job& job = all.jobs[number];
    const Transposition& tiles = deals.tiles[number];
    if (transposes && tiles.tiles > 0) {
      transpose_nest<Unit>(job.nest, tiles, blockIdx.x, gridDim.x, job.from, job.to);
    } else {
      copy_unit_by_unit<Unit>(job.nest, deals.units[number],
                              static_cast<Number>(blockIdx.x * blockDim.x + threadIdx.x),
                              static_cast<Number>(gridDim.x * blockDim.x), job.from, job.to);
    }
  }
  close(all.late_signals, all.late_waits, all.early_signals, all.early_waits, all.finished_blocks);
}

/// to[...] = from[...] in units of `Unit`.
template <class Unit, class Number>
__global__ void copy_rows(const __grid_constant__ Nest nest, const __grid_constant__ Deal deal,
                          unsigned lanes, const void* from, void* to) {
  copy_nest<Unit, Number>(nest, deal, lanes, from, to);
}

/// So many that what they read hides how long reading takes, and that no registers spill.
constexpr int transpose_blocks_per_multiprocessor = 5;
/// Several times what there is room for at once: the last ones then end at about the same time.
constexpr unsigned most_transpose_blocks = 8 * most_blocks;

/// to[...] = from[...] in tiles.
template <class Element>
__global__ void __launch_bounds__(threads_per_block, transpose_blocks_per_multiprocessor)
    copy_tiles(const __grid_constant__ Nest nest, const __grid_constant__ Transposition how, const void* from,
               void* to) {
  transpose_nest<Element>(nest, how, blockIdx.x, gridDim.x, from, to);
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

template <class Element>
int copy_in_tiles(const Nest& nest, const Transposition& how, const void* from, void* to,
                  unsigned most_blocks, cudaStream_t stream) {
  const unsigned most = most_blocks > 0 ? most_blocks : most_transpose_blocks;
  copy_tiles<Element><<<std::min(how.tiles, most), threads_per_block, 0, stream>>>(nest, how, from, to);
  return cudaGetLastError();
}

template <class Unit, bool transposes>
int start_exchange(const Exchange& all, const JobDeals& deals, std::int64_t most_units, dim3 blocks,
                   cudaStream_t stream) {
  if (most_units < std::int64_t{1} << 31) {
    exchange_jobs<Unit, std::uint32_t, transposes><<<blocks, threads_per_block, 0, stream>>>(all, deals);
  } else {
    exchange_jobs<Unit, std::uint64_t, transposes><<<blocks, threads_per_block, 0, stream>>>(all, deals);
  }
  return cudaGetLastError();
}

template <class Unit>
int exchange_in_units(const Exchange& all, cudaStream_t stream) {
  JobDeals deals;
  std::int64_t most_units = 1, wanted = 1;
  bool transposes = false;
  for (int i = 0; i < all.count; ++i) {
    const Job& job = all.jobs[i];
    if (job.nest.row_bytes == sizeof(Unit)) deals.tiles[i] = transposition_of(job.nest, job.from, job.to);
    if (deals.tiles[i].tiles > 0) {
      transposes = true;
      wanted = std::max<std::int64_t>(wanted, deals.tiles[i].tiles);
    } else {
      deals.units[i] = units_of(job.nest, sizeof(Unit));
      most_units = std::max(most_units, deals.units[i].all);
    }
  }
  wanted = std::max(wanted, (most_units + threads_per_block - 1) / threads_per_block);
  const unsigned jobs = std::min(static_cast<unsigned>(std::max(all.count, 1)), all.most_blocks);
  const auto room = static_cast<std::int64_t>(std::max(all.most_blocks / jobs, 1U));
  const dim3 blocks(static_cast<unsigned>(std::min(wanted, room)), jobs);
  return transposes ? start_exchange<Unit, true>(all, deals, most_units, blocks, stream)
                    : start_exchange<Unit, false>(all, deals, most_units, blocks, stream);
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
              fill_rows<Unit, std::uint64_t>, copy_tiles<Unit>, exchange_jobs<Unit, std::uint32_t, false>,
              exchange_jobs<Unit, std::uint64_t, false>, exchange_jobs<Unit, std::uint32_t, true>,
              exchange_jobs<Unit, std::uint64_t, true>, flags_in_order);
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

int launch_copy(const Nest& nest, const void* from, void* to, const MostBlocks& most, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  const Transposition how = transposition_of(nest, from, to);
  return in_units(alignment_of(nest, from, to), [&](auto unit) {
    using Unit = decltype(unit);  // of a transposition, the element
    if (how.tiles > 0) return copy_in_tiles<Unit>(nest, how, from, to, most.tiles, queue);
    return copy_in_units<Unit>(nest, from, to, most.rows, queue);
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
