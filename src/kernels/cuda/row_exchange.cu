// Rows of a column-major matrix exchanged on a device: a thread for each row that a chunk of exchanges
// touches, which moves the elements of several columns at a time from where they were.
#include "kernels/cuda/row_exchange.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

constexpr int columns_at_once = 4;

/// Columns first, first + step, .. of each block's own.
template <class Item>
__device__ void move_rows(const RowExchange& what, std::int32_t from, std::int32_t to) {
  auto* const data = static_cast<Item*>(what.data);
  const std::int64_t step = std::int64_t{gridDim.x} * columns_at_once;
  const bool moves = to >= 0 && from != to;
  for (std::int64_t first = std::int64_t{blockIdx.x} * columns_at_once; first < what.columns; first += step) {
    const std::int64_t left = what.columns - first;
    Item held[columns_at_once];
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c) {
      if (moves && c < left) held[c] = data[(first + c) * what.leading + from];
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c) {
      if (moves && c < left) data[(first + c) * what.leading + to] = held[c];
    }
  }
}

template <class Item>
__global__ void __launch_bounds__(RowExchange::most_rows) exchange_rows(const RowExchange what) {
  __shared__ std::int32_t pivots[RowExchange::most_at_once];
  const int number = static_cast<int>(threadIdx.x);
  for (int c = 0; c < chunks_of(what); ++c) {
    const ExchangeChunk chunk = chunk_of(what, c);
    if (number < chunk.count) pivots[number] = valid_pivot(what, chunk.first + number);
    __syncthreads();
    const std::int32_t to = row_touched(chunk, pivots, number);
    const std::int32_t from = to < 0 ? to : row_before(chunk, pivots, what.backward, to);
    move_rows<Item>(what, from, to);
    __syncthreads();  // the next chunk reads what this one has written, and has other pivots
  }
}

/// A block for each chunk, in their order.
__global__ void __launch_bounds__(RowExchange::most_rows) find_moves(const RowExchange what) {
  __shared__ std::int32_t pivots[RowExchange::most_at_once];
  const int number = static_cast<int>(threadIdx.x);
  const ExchangeChunk chunk = chunk_of(what, static_cast<int>(blockIdx.x));
  if (number < chunk.count) pivots[number] = valid_pivot(what, chunk.first + number);
  __syncthreads();
  const std::int32_t to = row_touched(chunk, pivots, number);
  const std::int32_t from = to < 0 ? to : row_before(chunk, pivots, what.backward, to);
  static_cast<RowMove*>(what.workspace)[blockIdx.x * RowExchange::most_rows + threadIdx.x] = {from, to};
}

/// A block for each column, in shared memory if it is `staged` there.
template <class Item>
__global__ void __launch_bounds__(RowExchange::most_rows) do_moves(const RowExchange what, bool staged) {
  extern __shared__ __align__(16) char memory[];
  auto* const column = static_cast<Item*>(what.data) + blockIdx.x * what.leading;
  Item* const place = staged ? reinterpret_cast<Item*>(memory) : column;
  const auto copy = [&](const Item* from, Item* to) {
#pragma unroll 8
    for (std::int64_t i = threadIdx.x; i < what.rows; i += RowExchange::most_rows) to[i] = from[i];
    __syncthreads();
  };
  if (staged) copy(column, place);
  const auto* moves = static_cast<const RowMove*>(what.workspace) + threadIdx.x;
  RowMove next = *moves;
  for (int c = 0; c < chunks_of(what); ++c) {
    const RowMove move = next;
    moves += RowExchange::most_rows;
    if (c + 1 < chunks_of(what)) next = *moves;
    Item held;
    if (move.from != move.to) held = place[move.from];
    __syncthreads();
    if (move.from != move.to) place[move.to] = held;
    __syncthreads();
  }
  if (staged) copy(place, column);
}

/// Of a block of the current device; 0: unknown.
int most_shared_bytes() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  const cudaError_t result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return result == cudaSuccess ? bytes : 0;
}

template <class Item>
int launch_found_moves(const RowExchange& what, cudaStream_t stream) {
  find_moves<<<static_cast<unsigned>(chunks_of(what)), RowExchange::most_rows, 0, stream>>>(what);
  const std::int64_t bytes = what.rows * std::int64_t{sizeof(Item)};
  constexpr int least_staged = 16;  // copying all rows takes as long as some moves
  const bool staged = chunks_of(what) >= least_staged && bytes <= most_shared_bytes();
  do_moves<Item><<<static_cast<unsigned>(what.columns), RowExchange::most_rows,
                   staged ? static_cast<std::size_t>(bytes) : 0, stream>>>(what, staged);
  return cudaGetLastError();
}

template <class Item>
int load_for() {
  int result = load(exchange_rows<Item>, do_moves<Item>);
  if (result == cudaSuccess)
    result = cudaFuncSetAttribute(do_moves<Item>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  most_shared_bytes());
  return result;
}

__global__ void count_from_zero(const std::int64_t* from, std::int32_t* to, std::int64_t count,
                                std::int64_t rows) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = static_cast<std::int32_t>(from[i] > i && from[i] <= rows ? from[i] - 1 : i);
}

unsigned blocks_of(std::int64_t tasks, int at_once) {
  const std::int64_t blocks = (tasks + at_once - 1) / at_once;
  return static_cast<unsigned>(std::min<std::int64_t>(blocks, most_blocks));
}

}  // namespace

int launch_row_exchange(const RowExchange& what, void* stream) {
  if (what.columns == 0 || what.count == 0) return cudaSuccess;
  if (finds_moves_first(what)) {
    auto* const native = static_cast<cudaStream_t>(stream);
    return what.item_bytes == 4   ? launch_found_moves<std::uint32_t>(what, native)
           : what.item_bytes == 8 ? launch_found_moves<std::uint64_t>(what, native)
                                  : launch_found_moves<double2>(what, native);
  }
  auto* const kernel = what.item_bytes == 4   ? exchange_rows<std::uint32_t>
                       : what.item_bytes == 8 ? exchange_rows<std::uint64_t>
                                              : exchange_rows<double2>;
  kernel<<<blocks_of(what.columns, columns_at_once), RowExchange::most_rows, 0,
           static_cast<cudaStream_t>(stream)>>>(what);
  return cudaGetLastError();
}

int launch_count_from_zero(const std::int64_t* from, std::int32_t* to, std::int64_t count, std::int64_t rows,
                           void* stream) {
  count_from_zero<<<blocks_of(count, threads_per_block), threads_per_block, 0,
                    static_cast<cudaStream_t>(stream)>>>(from, to, count, rows);
  return cudaGetLastError();
}

int load_row_exchange_kernels() {
  int result = load(count_from_zero, find_moves);
  if (result == cudaSuccess) result = load_for<std::uint32_t>();
  if (result == cudaSuccess) result = load_for<std::uint64_t>();
  if (result == cudaSuccess) result = load_for<double2>();
  return result;
}

}  // namespace partita::kernels::cuda
