// Distributed Fourier, cosine and sine transforms.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/machine.hpp>
#include <partita/names.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <string>
#include <vector>

namespace partita {

/// The kinds of transforms: complex (c2c), real to complex and complex to real (r2c, c2r), and the cosine and
/// sine transforms of FFTW.
enum class FftKind : std::uint8_t {
  c2c,
  r2c,  ///< half spectrum along the last of the axes: n/2+1 elements
  /// The inverse of r2c; `last_length` is n. Imaginary parts of the first element of each line, and for even
  /// n of the last one, are ignored, as in NumPy.
  c2r,
  dct1,
  dct2,
  dct3,
  dct4,
  dst1,
  dst2,
  dst3,
  dst4,
};
template <>
struct OptionWords<FftKind> {
  static constexpr std::string_view what = "kind of transform";
  static constexpr std::string_view words[]{"c2c",  "r2c",  "c2r",  "dct1", "dct2", "dct3",
                                            "dct4", "dst1", "dst2", "dst3", "dst4"};
};

/// Which direction is scaled: backward by 1/N, both (ortho) by 1/sqrt(N), or forward by 1/N. N is the product
/// of the transformed lengths (for DCT and DST the logical lengths of FFTW, such as 2n).
enum class Norm : std::uint8_t { backward, ortho, forward };
template <>
struct OptionWords<Norm> {
  static constexpr std::string_view what = "norm";
  static constexpr std::string_view words[]{"backward", "ortho", "forward"};
};

/// Algorithms for axes that are distributed over ranks.
enum class FftMethod : std::uint8_t {
  automatic,
  local,      ///< every rank owns whole lines; no communication
  slab,       ///< one exchange between all ranks
  pencil,     ///< an exchange along each axis of a process grid
  four_step,  ///< one long 1-D transform over all ranks (Bailey 1990)
};
template <>
struct OptionWords<FftMethod> {
  static constexpr std::string_view what = "method of a transform";
  static constexpr std::string_view words[]{"automatic", "local", "slab", "pencil", "four-step"};
};

/// How an array is transferred between devices of a node that access each other's memory.
enum class FftExchange : std::uint8_t {
  automatic,  ///< the faster one by the cost model; copies if the machine has no `store_bandwidth`
  copies,     ///< results of local transforms are copied to their new owners, part by part
  stores,     ///< the kernel of the preceding transform stores its results in the memory of their new owners
};
template <>
struct OptionWords<FftExchange> {
  static constexpr std::string_view what = "exchange of a transform";
  static constexpr std::string_view words[]{"automatic", "copies", "stores"};
};

/// The distribution of a newly allocated result.
enum class Output : std::uint8_t {
  as_input,  ///< that of the input, or FftOptions::distribution if set
  cheapest,  ///< the one in which the method produces it (transposed); see `result_layout`
  given,     ///< FftOptions::distribution
};
template <>
struct OptionWords<Output> {
  static constexpr std::string_view what = "output";
  static constexpr std::string_view words[]{"as-input", "cheapest", "given"};
};

/// Options of transforms.
struct FftOptions {
  /// If set, the functions below are stream-ordered (<partita/stream.hpp>), for arrays in device memory, as
  /// `FFT::execute` with a stream. Additional UnsupportedError: a new plan while the stream is being
  /// captured.
  std::optional<Stream> stream = {};
  FftKind kind = FftKind::c2c;  ///< functions named after a kind accept no other
  /// Axes to transform; empty: all. For r2c and c2r the last one listed has the half spectrum.
  std::vector<int> axes = {};
  bool inverse = false;
  Norm norm = Norm::backward;
  /// For cosine and sine transforms: weight the ends of lines such that the matrix is orthogonal up to a
  /// factor, as SciPy's `orthogonalize` (affects DCT types I to III and DST types II and III; see
  /// `Transform::orthogonal`). If unset: true with Norm::ortho, otherwise false, as in SciPy. ArgumentError
  /// if true for a Fourier transform.
  std::optional<bool> orthogonalize = {};
  /// For c2r: n along the last axis; 0: 2 (extent - 1). ArgumentError if negative.
  std::int64_t last_length = 0;
  Output output = Output::as_input;
  /// Distribution of the result; sufficient without `output`. ArgumentError with Output::cheapest, or if a
  /// given output has another distribution.
  std::optional<Distribution> distribution = {};
  Order order = Order::row_major;         ///< of a newly allocated result
  Residency residency = Residency::heap;  ///< of a newly allocated result
  FftMethod method = FftMethod::automatic;
  std::vector<int> grid = {};  ///< process grid; implies method pencil; empty: chosen by the planner
  /// Stores support complex lines of 2, 4, ..., 2048 elements, distributions with one box per rank, up to 16
  /// ranks that access each other's memory, and results on the heap; otherwise copies are used. One plan may
  /// contain both.
  FftExchange exchange = FftExchange::automatic;
  std::int64_t scratch_bytes = 0;  ///< bound on the staging memory of one rank; 0: chosen by the planner
  /// c2r, and `FFT::inverse` of r2c, may overwrite their input (as FFTW does by default), which saves a copy
  /// on devices; other kinds keep it. The same on all ranks.
  bool overwrite_input = false;
  bool measure = false;          ///< plan local transforms by timing (FFTW_MEASURE)
  std::string wisdom_file = {};  ///< read before local transforms are planned, written after; empty: none
};

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// The layout of the result: the transformed shape (r2c and c2r change the last axis), with the distribution
/// that the options determine. Throws ArgumentError: an axis listed twice or out of range, real input for a
/// complex transform or the reverse, a wrong extent of a half spectrum, a distribution that does not cover
/// the array, contradictory options.
PARTITA_API Layout result_layout(const Operand& input, const Topology& topology,
                                 const FftOptions& options = {}, const Machine& machine = {});
/// As above, with the machine of the context and the topology of its ranks for the memory space of the input.
/// Local.
PARTITA_API Layout result_layout(const Context& context, const Operand& input,
                                 const FftOptions& options = {});
/// The dtype of the result: r2c and c2r change it, in the same precision. Pure.
PARTITA_API Dtype result_dtype(Dtype input, FftKind kind);

/// The plan of one rank. Buffers: 0 input, 1 output (the same array if in place), then scratch. Consecutive
/// executions of a batch use the scratch alternately. If one of the two arrays is in device memory, the plan
/// is for the device: the other is an array of the same layout on its heap.
PARTITA_API Plan plan_fft(const Operand& input, const Operand& output, const Topology& topology, int rank,
                          const FftOptions& options = {}, const Machine& machine = {}, bool in_place = false);

// --- execution

/// One-line calls. Each returns a new array, on the symmetric heap unless the options say otherwise.
/// Collective over the context of `input`; blocks until this rank's part is complete, unless `options.stream`
/// is set. The input is unchanged, except with `FftOptions::overwrite_input`. The plan is cached in the
/// context. Errors, the same on every rank: ArgumentError, DisagreementError, UnsupportedError (no FFTW, or
/// no cuFFT for device memory), MemoryError, TimeoutError.
///
/// Arrays in device memory are transformed by their device on the context's own stream, and so is the result.
PARTITA_API Array fft(const Array& input, const FftOptions& options = {},
                      SourcePlace where = SourcePlace::current());  ///< c2c
PARTITA_API Array ifft(const Array& input, const FftOptions& options = {},
                       SourcePlace where = SourcePlace::current());
PARTITA_API Array rfft(const Array& input, const FftOptions& options = {},
                       SourcePlace where = SourcePlace::current());  ///< r2c
PARTITA_API Array irfft(const Array& input, const FftOptions& options = {},
                        SourcePlace where = SourcePlace::current());  ///< c2r
PARTITA_API Array dct(const Array& input, int type = 2, const FftOptions& options = {},
                      SourcePlace where = SourcePlace::current());
PARTITA_API Array idct(const Array& input, int type = 2, const FftOptions& options = {},
                       SourcePlace where = SourcePlace::current());
PARTITA_API Array dst(const Array& input, int type = 2, const FftOptions& options = {},
                      SourcePlace where = SourcePlace::current());
PARTITA_API Array idst(const Array& input, int type = 2, const FftOptions& options = {},
                       SourcePlace where = SourcePlace::current());

/// As above, into a given array of the result's shape and dtype, in any distribution. `output` may be `input`
/// itself if shape and dtype are unchanged. `irfft_into` takes `last_length` from the output if unset. If
/// only one of the two arrays is in device memory, the local part of the other is copied to the device's heap
/// before, or from it after. Additional ArgumentErrors: an output of another shape, dtype or context, or that
/// partly overlaps the input; an output whose distribution contradicts the options.
PARTITA_API void fft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void ifft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void rfft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void irfft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void dct_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void idct_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void dst_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void idst_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});

/// The array with the extents of `shape`: axes that become shorter are truncated at the end, longer ones are
/// padded with zeros, as NumPy and SciPy do with `n` and `s`. Dtype and rule of distribution are unchanged;
/// along distributed axes elements move to their new owners. Returns a new array on the symmetric heap, in
/// the same memory space, or the array itself if it has that shape. Collective; blocks until this rank's part
/// is complete, or is stream-ordered (<partita/stream.hpp>). Errors, the same on every rank: ArgumentError
/// (not one length per axis, a length below 1, a partial array), DisagreementError, UnsupportedError (a
/// stream for host memory), MemoryError.
PARTITA_API Array crop_or_pad(const Array& array, const Shape& shape, std::optional<Stream> stream = {},
                              SourcePlace where = SourcePlace::current());

/// Plan once, execute many times: forward from the input's layout to the output's, and inverse. Creation and
/// execution are collective and blocking (except executions with a stream); executions after the first
/// allocate nothing and communicate only data. Not copyable; one object must not be used from two threads at
/// once.
class PARTITA_API FFT {
 public:
  /// The output is `output`, or determined by the options; `in_place`: it is the memory of the input. Errors,
  /// the same on every rank, as for `fft`; also ArgumentError if `options.stream` is set.
  FFT(const Context& context, const Operand& input, const FftOptions& options = {});
  FFT(const Context& context, const Operand& input, const Operand& output, const FftOptions& options = {},
      bool in_place = false);
  /// For inputs like this array. ArgumentError if it belongs to another context.
  FFT(const Context& context, const Array& input, const FftOptions& options = {})
      : FFT(context, detail::operand_in(context, input, "FFT"), options) {}
  ~FFT();
  FFT(FFT&&) noexcept;
  FFT& operator=(FFT&&) noexcept;

  /// The operand of the output.
  const Operand& output() const;

  /// Binds arrays for execute() without arrays; the same array twice if in place. Local.
  void reset(const Array& input, Array& output);
  /// Collective, blocking, as `fft`. ArgumentError if no arrays are bound, or if they do not match the plan.
  /// `scale` multiplies the result in addition to the norm's factor.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on it (`Stream{}`: the context's own) and
  /// returns. The contract then holds in stream order: later work on the stream may overwrite the input, read
  /// the output or free either. `Context::synchronize` waits, and throws errors of the execution. Plans with
  /// messages (between nodes) wait for them here, unless NCCL transfers them. Local transforms are planned
  /// when the object is made, those of `inverse` at its first use, which waits for the device.
  /// UnsupportedError: host memory.
  ///
  /// On a stream that is being captured the work is added to its graph, with this scale; nothing is executed
  /// now. The contract of the graph is that of `Redistribute::execute`. UnsupportedError, the same on every
  /// rank: a plan with messages that the host waits for, or a plan that has not been made yet.
  void execute(std::optional<Stream> stream = {});
  void execute(const Array& input, Array& output, double scale = 1, std::optional<Stream> stream = {});
  /// The inverse transform, from the output's layout to the input's; planned at its first use (collective).
  void inverse(const Array& output, Array& input, double scale = 1, std::optional<Stream> stream = {});
  /// Executes the plan for several arrays in one call: messages of one overlap with the computation of the
  /// next.
  void execute_batch(const std::vector<Array>& inputs, std::vector<Array>& outputs, double scale = 1,
                     std::optional<Stream> stream = {});

  /// Times the methods, grids and exchanges on scratch arrays and keeps the fastest. Collective, blocking.
  /// Returns its name.
  std::string autotune(int runs = 3);

  /// Bytes of scratch on this rank that a workspace of the caller must hold.
  std::int64_t workspace_size() const;
  /// Uses `workspace` as scratch: an array of the plan's context on the symmetric heap (of the device if that
  /// transforms), of at least the largest workspace_size() of all ranks; it must outlive its use. Buffers of
  /// messages that pass through the host remain with the plan. Collective. ArgumentError, the same on every
  /// rank: an array of another context, in ordinary memory, too small, or in the wrong memory space.
  void set_workspace(const Array& workspace);
  /// Frees the scratch. Collective; the next execution allocates it again.
  void release();

  const Plan& plan() const;  ///< the forward plan of this rank
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
