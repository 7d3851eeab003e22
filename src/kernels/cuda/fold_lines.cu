// Reductions of rows or columns, in the dtypes of fold.cu, at the speed of memory: 16 bytes per access where
// layouts allow. Which thread takes what depends on the counts alone: the same bits in every run.
#include <optional>

#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/fold_lines.hpp"
#include "kernels/cuda/fold_rules.cuh"
#include "kernels/cuda/joining.cuh"
#include "kernels/cuda/rounds.hpp"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a };
constexpr int warp = 32, warps = threads_per_block / warp;
constexpr int in_flight = 4;  // loads of a thread
/// Of a thread: below it another block costs more than it brings.
constexpr std::int64_t least_loads = 2 * in_flight;
constexpr int access_bytes = 16;

/// Numbers side by side, with one access.
template <class T, int width>
using Pack = Together<T, width * sizeof(T)>;

template <class R, int width>
__device__ void join(const Pack<typename R::Stored, width>& pack, double factor,
                     typename R::Way (&all)[width]) {
#pragma unroll
  for (int v = 0; v < width; ++v) all[v] = R::join(all[v], R::of(pack.elements[v], factor));
}

/// Into all[v]: the packs first, first + step, ... below end, each `apart` packs behind the one before it.
template <class R, int width>
__device__ void join_packs(const Pack<typename R::Stored, width>* from, std::int64_t first, std::int64_t end,
                           std::int64_t step, std::int64_t apart, double factor,
                           typename R::Way (&all)[width]) {
  std::int64_t i = first;
  for (; i + (in_flight - 1) * step < end; i += in_flight * step) {
    Pack<typename R::Stored, width> loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) loaded[u] = from[(i + u * step) * apart];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) join<R, width>(loaded[u], factor, all);
  }
  for (; i < end; i += step) join<R, width>(from[i * apart], factor, all);
}

template <class Way>
__device__ Way of_neighbour(Way x, int distance) {
  return static_cast<Way>(__shfl_xor_sync(~0U, x, distance));
}
template <class Real>
__device__ Complex<Real> of_neighbour(Complex<Real> x, int distance) {
  return {__shfl_xor_sync(~0U, x.real, distance), __shfl_xor_sync(~0U, x.imaginary, distance)};
}

template <class R>
__device__ typename R::Way joined_in_warp(typename R::Way one) {
  for (int half = warp / 2; half > 0; half /= 2) one = R::join(one, of_neighbour(one, half));
  return one;
}

/// Elements of a single line that are before its packs, or behind them.
struct Loose {
  const void* from = nullptr;
  int count = 0;
};

/// Of each line a part by each of `chunks` teams or blocks; a result is `to_step` numbers behind that of the
/// line before it, and `apart` behind that of the chunk before it.
template <class R>
struct Dealt {
  std::int64_t batches = 1, lines = 0, length = 0;  // in packs where they are adjacent
  std::int64_t batch_step = 0;                      // from one batch of columns to the next, in packs
  std::int64_t line_step = 0;          // from one line to the next, or from one row to the next, in packs
  std::int64_t chunk = 0, chunks = 1;  // of the length
  int team = warp;                     // of threads, for rows
  typename R::Joined* to = nullptr;
  std::int64_t to_step = 1, apart = 0;
  double factor = 1;  // of squares
  typename R::Way identity{};
  Loose loose[2];

  __device__ std::int64_t end(std::int64_t begin) const {
    return begin + chunk < length ? begin + chunk : length;
  }
};

/// A thread a pack of columns, a warp side by side, the warps of a block row after row.
template <class R, int width>
__global__ void __launch_bounds__(threads_per_block)
    fold_columns(const __grid_constant__ Dealt<R> deal, const Pack<typename R::Stored, width>* from) {
  using Way = typename R::Way;
  __shared__ alignas(16) unsigned char memory[warps * warp * width * sizeof(Way)];
  auto* const shared = reinterpret_cast<Way(*)[warp * width]>(memory);
  const int x = threadIdx.x % warp, y = threadIdx.x / warp;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * warp;
  for (std::int64_t task = blockIdx.y; task < deal.chunks * deal.batches; task += gridDim.y) {
    const std::int64_t c = task / deal.batches, batch = task - c * deal.batches;
    Way all[width];
#pragma unroll
    for (int v = 0; v < width; ++v) all[v] = deal.identity;
    const std::int64_t begin = c * deal.chunk;
    if (first + x < deal.lines)
      join_packs<R, width>(from + batch * deal.batch_step + first + x, begin + y, deal.end(begin), warps,
                           deal.line_step, deal.factor, all);
#pragma unroll
    for (int v = 0; v < width; ++v) shared[y][x * width + v] = all[v];
    __syncthreads();
    for (int column = threadIdx.x; column < warp * width; column += threads_per_block) {
      const std::int64_t line = first * width + column;
      Way one = shared[0][column];
      for (int w = 1; w < warps; ++w) one = R::join(one, shared[w][column]);
      if (line < deal.lines * width)
        deal.to[(batch * deal.lines * width + line) * deal.to_step + c * deal.apart] = R::result(one);
    }
    __syncthreads();
  }
}

/// A team of threads, a warp or the block, a chunk of a row.
template <class R, int width>
__global__ void __launch_bounds__(threads_per_block)
    fold_rows(const __grid_constant__ Dealt<R> deal, const Pack<typename R::Stored, width>* from) {
  using Way = typename R::Way;
  __shared__ alignas(16) unsigned char memory[warps * sizeof(Way)];
  Way* const shared = reinterpret_cast<Way*>(memory);
  const int team = deal.team, teams = threads_per_block / team;
  const int lane = threadIdx.x % team;
  const std::int64_t tasks = deal.lines * deal.chunks;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * teams;
  for (std::int64_t task = static_cast<std::int64_t>(blockIdx.x) * teams + threadIdx.x / team; task < tasks;
       task += step) {
    const std::int64_t c = task / deal.lines, line = task - c * deal.lines;
    const std::int64_t begin = c * deal.chunk;
    Way all[width];
#pragma unroll
    for (int v = 0; v < width; ++v) all[v] = deal.identity;
    join_packs<R, width>(from + line * deal.line_step, begin + lane, deal.end(begin), team, 1, deal.factor,
                         all);
    for (const Loose& loose : deal.loose) {
      if (task == 0 && lane < loose.count)
        all[0] =
            R::join(all[0], R::of(static_cast<const typename R::Stored*>(loose.from)[lane], deal.factor));
    }
    Way one = all[0];
#pragma unroll
    for (int v = 1; v < width; ++v) one = R::join(one, all[v]);
    one = joined_in_warp<R>(one);
    if (team > warp) {
      if (lane % warp == 0) shared[lane / warp] = one;
      __syncthreads();
      if (lane < warp) one = joined_in_warp<R>(lane < warps ? shared[lane] : deal.identity);
      __syncthreads();
    }
    if (lane == 0) deal.to[line * deal.to_step + c * deal.apart] = R::result(one);
  }
}

/// Parts of the length, so that there are some `wanted` of them and the partial results have room. A thread
/// loads what is `step` behind; long parts are whole rounds of its loads, since the rest is loaded one by
/// one.
template <class R>
void cut(Dealt<R>& deal, std::int64_t wanted, std::int64_t step, std::int64_t results) {
  constexpr std::int64_t most = fold_scratch_bytes / sizeof(typename R::Joined);
  const std::int64_t useful = std::max<std::int64_t>(deal.length / (least_loads * step), 1);
  const std::int64_t room = std::max<std::int64_t>(most / results, 1);
  deal.chunk = std::max<std::int64_t>(rounded_up(deal.length, std::min({wanted, useful, room})), 1);
  deal.chunk = in_rounds(deal.chunk, in_flight * step);
  deal.chunks = std::max<std::int64_t>(rounded_up(deal.length, deal.chunk), 1);
}

template <class R, int width>
int start_columns(const Dealt<R>& deal, const void* from, cudaStream_t stream) {
  constexpr std::int64_t most = 65535;
  const dim3 blocks(static_cast<unsigned>(rounded_up(deal.lines, warp)),
                    static_cast<unsigned>(std::min(deal.chunks * deal.batches, most)));
  fold_columns<R, width><<<blocks, threads_per_block, 0, stream>>>(
      deal, static_cast<const Pack<typename R::Stored, width>*>(from));
  return cudaGetLastError();
}

/// Rows are short, or so many that a warp each keeps the device busy; or else a block takes one.
bool are_for_warps(std::int64_t rows, std::int64_t length) {
  return length < threads_per_block * in_flight || rows >= std::int64_t{most_blocks} * warps;
}

template <class R, int width>
int start_rows(Dealt<R> deal, const void* from, cudaStream_t stream) {
  const std::int64_t tasks = deal.lines * deal.chunks;
  deal.team = are_for_warps(tasks, deal.chunk) ? warp : threads_per_block;
  const std::int64_t wanted = rounded_up(tasks, threads_per_block / deal.team);
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(wanted, 4 * most_blocks));
  fold_rows<R, width><<<blocks, threads_per_block, 0, stream>>>(
      deal, static_cast<const Pack<typename R::Stored, width>*>(from));
  return cudaGetLastError();
}

struct Lines {
  std::int64_t batches = 1, kept = 1, over = 1;
  std::int64_t batch_step = 0, kept_step = 0, over_step = 0, to_step = 1;
  bool columns() const { return kept_step == 1; }
  std::int64_t results() const { return batches * kept; }
};

/// What reduces results of R.
template <class R>
struct SecondRule {
  using type = R;
};
template <Reduction operation, class T, class J>
struct SecondRule<AccumulateRule<operation, T, J>> {
  using type = AccumulateRule<operation, J, J>;
};
template <class T>
struct SecondRule<SquareRule<T>> {
  using type = AccumulateRule<Reduction::sum, double, double>;
};
template <Reduction operation, class T, class J>
struct SecondRule<ExtremeRule<operation, T, J>> {
  using type = ExtremeRule<operation, J, J>;
};
template <Reduction operation, class T>
struct SecondRule<TruthRule<operation, T>> {
  using type = ExtremeRule<operation, std::uint64_t, std::uint64_t>;
};

/// The partial results of `first`, which are in the scratch, into the results: lying chunk by chunk if they
/// are of columns, else line by line.
template <class R>
int join_chunks(const Dealt<R>& first, const Lines& lines, typename R::Joined* results, cudaStream_t stream) {
  using Second = typename SecondRule<R>::type;
  Dealt<Second> second;
  second.identity = Second::identity();
  second.lines = lines.results();
  second.length = second.chunk = first.chunks;
  second.line_step = lines.columns() ? lines.results() : first.chunks;
  second.to = results;
  second.to_step = lines.to_step;
  return lines.columns() ? start_columns<Second, 1>(second, first.to, stream)
                         : start_rows<Second, 1>(second, first.to, stream);
}

/// The elements of a single line that are in no pack, and where its packs begin.
template <class R, int width>
const void* loosen(Dealt<R>& deal, const Lines& lines, const void* from) {
  using Stored = typename R::Stored;
  const auto* const first = static_cast<const Stored*>(from);
  const auto offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) % access_bytes);
  const std::int64_t before =
      std::min<std::int64_t>((access_bytes - offset) % access_bytes / sizeof(Stored), lines.over);
  deal.length = (lines.over - before) / width;
  const std::int64_t packed = before + deal.length * width;
  deal.loose[0] = {first, static_cast<int>(before)};
  deal.loose[1] = {first + packed, static_cast<int>(lines.over - packed)};
  return first + before;
}

template <class R, int width>
int fold_in(const Lines& lines, const Fold& what, void* scratch, cudaStream_t stream) {
  using Joined = typename R::Joined;
  Dealt<R> deal;
  auto* const results = static_cast<Joined*>(what.data[to]);
  const void* from = what.data[a];
  deal.factor = what.factor;
  deal.identity = R::identity();
  deal.batches = lines.batches;
  deal.batch_step = lines.batch_step / width;
  deal.lines = lines.columns() ? lines.kept / width : lines.kept;
  deal.length = lines.columns() ? lines.over : lines.over / width;
  deal.line_step = (lines.columns() ? lines.over_step : lines.kept_step) / width;
  if (width > 1 && lines.results() == 1) from = loosen<R, width>(deal, lines, from);
  if (lines.columns()) {
    const std::int64_t blocks = rounded_up(deal.lines, warp) * lines.batches;
    cut(deal, rounded_up(most_blocks, blocks), warps, lines.results());
  } else if (are_for_warps(deal.lines, deal.length)) {
    cut(deal, 1, 1, lines.results());
  } else {
    cut(deal, rounded_up(most_blocks, deal.lines), threads_per_block, lines.results());
  }
  const bool whole = deal.chunks == 1;
  deal.to = whole ? results : static_cast<Joined*>(scratch);
  deal.to_step = whole ? lines.to_step : lines.columns() ? 1 : deal.chunks;
  deal.apart = lines.columns() ? lines.results() : 1;
  const int result = lines.columns() ? start_columns<R, width>(deal, from, stream)
                                     : start_rows<R, width>(deal, from, stream);
  return whole || result != cudaSuccess ? result : join_chunks(deal, lines, results, stream);
}

/// A loop's step in a part; of no loop, that it is as one likes.
std::int64_t step_of(const ElementLoops& loops, int part, std::int64_t otherwise) {
  return loops.loops == 0 ? otherwise : loops.strides[loops.loops - 1][part];
}

/// None: the loops are others.
std::optional<Lines> lines_of(const Fold& what) {
  if (what.kept.loops > 2 || what.over.loops > 1) return {};
  Lines lines;
  if (what.kept.loops > 0) lines.kept = what.kept.counts[what.kept.loops - 1];
  if (what.over.loops > 0) lines.over = what.over.counts[0];
  lines.over_step = step_of(what.over, a, lines.kept);
  lines.kept_step = step_of(what.kept, a, lines.over);
  lines.to_step = step_of(what.kept, to, 1);
  if (what.kept.loops == 2) {
    lines.batches = what.kept.counts[0];
    lines.batch_step = what.kept.strides[0][a];
    if (!lines.columns() || what.kept.strides[0][to] != lines.kept * lines.to_step) return {};
  }
  if (is_complex(what.dtype) && what.folded == Folded::square) {  // twice as many real numbers
    if (lines.columns()) return {};
    lines.over *= 2;
    lines.kept_step *= 2;
  }
  if (lines.kept_step < 0 || lines.over_step < 0 || lines.batch_step < 0) return {};
  const bool are = lines.columns() ? lines.kept >= warp : lines.over_step == 1 && lines.over >= warp;
  return are ? std::optional(lines) : std::nullopt;
}

template <class R>
constexpr int widest = access_bytes / sizeof(typename R::Stored);

/// In packs of 16 bytes where the layouts allow.
template <class R>
int fold_by(const Lines& lines, const Fold& what, void* scratch, cudaStream_t stream) {
  constexpr int width = widest<R>;
  const std::int64_t side_by_side = lines.columns() ? lines.kept : lines.over;
  const std::int64_t step = lines.columns() ? lines.over_step | lines.batch_step : lines.kept_step;
  const auto address = reinterpret_cast<std::uintptr_t>(what.data[a]);
  const bool in_packs = (side_by_side | step) % width == 0 && address % access_bytes == 0;
  const bool in_order = lines.results() == 1 && address % sizeof(typename R::Stored) == 0;
  return in_packs || in_order ? fold_in<R, width>(lines, what, scratch, stream)
                              : fold_in<R, 1>(lines, what, scratch, stream);
}

// --- which rule

constexpr int unknown = cudaErrorInvalidValue;

/// Integers of a size are not 0 alike.
template <class T, bool is_integer = std::is_integral_v<T> || std::is_same_v<T, Boolean>>
struct WithoutSign {
  using type = T;
};
template <class T>
struct WithoutSign<T, true> {
  using type = std::make_unsigned_t<typename Plain<T>::type>;
};

template <class T, class Body>
int with_values(const Fold& what, const Body& body) {
  using Way = typename Plain<T>::type;
  constexpr bool real = std::is_floating_point_v<Way>;
  using J = std::conditional_t<real, double,
                               std::conditional_t<std::is_unsigned_v<Way> && !std::is_same_v<T, Boolean>,
                                                  std::uint64_t, std::int64_t>>;
  constexpr Dtype joined = real ? Dtype::f64 : std::is_same_v<J, std::int64_t> ? Dtype::i64 : Dtype::u64;
  constexpr bool wide = sizeof(T) >= 4;  // others are rarely averaged and multiplied
  if constexpr (!real && wide) {
    if (what.joined == Dtype::f64 && what.reduction == Reduction::sum)  // of a mean
      return body(AccumulateRule<Reduction::sum, T, double>());
  }
  if (what.joined != joined) return unknown;
  switch (what.reduction) {
    case Reduction::sum:
      return body(AccumulateRule<Reduction::sum, T, J>());
    case Reduction::product:
      if constexpr (wide) return body(AccumulateRule<Reduction::product, T, J>());
      return unknown;
    case Reduction::min:
      return body(ExtremeRule<Reduction::min, T, J>());
    case Reduction::max:
      return body(ExtremeRule<Reduction::max, T, J>());
    default:
      return unknown;
  }
}

/// body(Rule()) with the rule for elements of T.
template <class T, class Body>
int with_rule(const Fold& what, const Body& body) {
  if (what.folded == Folded::truth && what.joined == Dtype::u64) {
    using Bits = typename WithoutSign<T>::type;
    if (what.reduction == Reduction::max) return body(TruthRule<Reduction::max, Bits>());
    if (what.reduction == Reduction::min) return body(TruthRule<Reduction::min, Bits>());
    return unknown;
  }
  const bool squares = what.folded == Folded::square && what.joined == Dtype::f64;
  if constexpr (is_complex_number<T>) {
    if (squares && what.reduction == Reduction::sum)
      return body(SquareRule<std::conditional_t<std::is_same_v<T, Complex<float>>, float, double>>());
    return what.folded == Folded::value && what.joined == Dtype::c128 && what.reduction == Reduction::sum
               ? body(AccumulateRule<Reduction::sum, T, Complex<double>>())
               : unknown;
  } else {
    if constexpr (std::is_floating_point_v<typename Plain<T>::type>) {
      if (squares && what.reduction == Reduction::sum) return body(SquareRule<T>());
    }
    return what.folded == Folded::value ? with_values<T>(what, body) : unknown;
  }
}

/// The same for its dtype; `unknown` if there is none.
template <class Body>
int with_rule_of_dtype(const Fold& what, const Body& body) {
  return with_stored(what.dtype, [&](auto element) { return with_rule<decltype(element)>(what, body); });
}

template <class R, int width>
int load_of_width() {
  return load(fold_columns<R, width>, fold_rows<R, width>);
}

}  // namespace

bool folds_lines(const Fold& what) {
  return lines_of(what) && with_rule_of_dtype(what, [](auto) { return 0; }) == 0;
}

int launch_fold_lines(const Fold& what, void* scratch, void* stream) {
  const std::optional<Lines> lines = lines_of(what);
  return with_rule_of_dtype(what, [&](auto rule) {
    return fold_by<decltype(rule)>(*lines, what, scratch, static_cast<cudaStream_t>(stream));
  });
}

int load_fold_lines() {
  for (int dtype = 0; dtype <= static_cast<int>(Dtype::c128); ++dtype) {
    for (const Folded folded : {Folded::value, Folded::truth, Folded::square}) {
      for (const Reduction reduction : {Reduction::sum, Reduction::product, Reduction::min, Reduction::max}) {
        for (const Dtype joined : {Dtype::i64, Dtype::u64, Dtype::f64, Dtype::c128}) {
          Fold what;
          what.reduction = reduction;
          what.folded = folded;
          what.dtype = static_cast<Dtype>(dtype);
          what.joined = joined;
          const int result = with_rule_of_dtype(what, [](auto rule) {
            using R = decltype(rule);
            const int error = load_of_width<R, widest<R>>();
            return error != cudaSuccess ? error : load_of_width<R, 1>();
          });
          if (result != cudaSuccess && result != unknown) return result;
        }
      }
    }
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
