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

/// Which transform: complex (c2c), of real data and back (r2c, c2r), cosine and sine transforms of FFTW's
/// types.
enum class FftKind : std::uint8_t {
  c2c,
  r2c,  ///< half spectrum along the last of the axes: n/2+1
  /// Its inverse; `last_length` says n. What is real in the half spectrum of a real line, its first element
  /// and of an even n its last one, counts as real: imaginary parts there change nothing, as in NumPy.
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

/// Whose the 1/N is, N the product of the transformed lengths (for DCT and DST the logical lengths of FFTW:
/// 2n and the like).
enum class Norm : std::uint8_t { backward, ortho, forward };
template <>
struct OptionWords<Norm> {
  static constexpr std::string_view what = "norm";
  static constexpr std::string_view words[]{"backward", "ortho", "forward"};
};

/// How lines that are cut between ranks become whole.
enum class FftMethod : std::uint8_t {
  automatic,
  local,      ///< every rank owns whole lines already
  slab,       ///< one exchange between all ranks
  pencil,     ///< an exchange along each axis of a process grid
  four_step,  ///< one long 1-D transform over all ranks (Bailey 1990)
};
template <>
struct OptionWords<FftMethod> {
  static constexpr std::string_view what = "method of a transform";
  static constexpr std::string_view words[]{"automatic", "local", "slab", "pencil", "four-step"};
};

/// How an array changes hands between the devices of a node that reach each other's memory.
enum class FftExchange : std::uint8_t {
  automatic,  ///< as predicted; without a machine's `store_bandwidth`, copies
  copies,     ///< what has been transformed is copied to its new owners, part by part
  stores,     ///< the last transform before it stores its results in the memory of their owners, where it can
};
template <>
struct OptionWords<FftExchange> {
  static constexpr std::string_view what = "exchange of a transform";
  static constexpr std::string_view words[]{"automatic", "copies", "stores"};
};

/// Which distribution a new result gets.
enum class Output : std::uint8_t {
  as_input,  ///< the input's, or FftOptions::distribution where that is set
  cheapest,  ///< that in which the method leaves it (transposed); `result_layout` says which
  given,     ///< FftOptions::distribution
};
template <>
struct OptionWords<Output> {
  static constexpr std::string_view what = "output";
  static constexpr std::string_view words[]{"as-input", "cheapest", "given"};
};

/// Behaviour first, performance after.
struct FftOptions {
  /// If set, the functions below are stream-ordered (<partita/stream.hpp>), of arrays in device memory, as
  /// `FFT::execute` with a stream. UnsupportedError, too: a new plan while the stream is being captured.
  std::optional<Stream> stream = {};
  FftKind kind = FftKind::c2c;  ///< functions that are called as a kind allow no other
  /// Which to transform; empty: all. For r2c and c2r the last named is the halved one.
  std::vector<int> axes = {};
  bool inverse = false;
  Norm norm = Norm::backward;
  /// Of cosine and sine transforms: the ends of lines are weighted such that the transform's matrix is
  /// orthogonal up to a factor, as SciPy's `orthogonalize` (types I to III of cosine, II and III of sine
  /// transforms change; see `Transform::orthogonal`). If unset: yes with Norm::ortho, no otherwise, which is
  /// SciPy's default. ArgumentError if true for a Fourier transform.
  std::optional<bool> orthogonalize = {};
  /// Of c2r: n along the last axis; 0: 2 (extent - 1), the even one. ArgumentError if negative.
  std::int64_t last_length = 0;
  Output output = Output::as_input;
  /// Of the result: enough by itself; an error with Output::cheapest, and where the caller's own result lies
  /// otherwise.
  std::optional<Distribution> distribution = {};
  Order order = Order::row_major;         ///< of a new result
  Residency residency = Residency::heap;  ///< likewise
  FftMethod method = FftMethod::automatic;
  std::vector<int> grid = {};  ///< of processes, for pencil, which it asks for by itself; empty: chosen
  /// Stores are for complex lines of 2, 4, .. 2048 elements, distributions of one box a rank, up to 16 ranks
  /// that reach each other's memory, and results on the heap; the rest is copied. Both may be in one plan.
  FftExchange exchange = FftExchange::automatic;
  std::int64_t scratch_bytes = 0;  ///< bound on what one rank stages; 0: chosen by the planner
  /// Complex to real, `FFT::inverse` of real to complex too, may destroy what is transformed (as FFTW does by
  /// itself), which saves devices a copy; others keep it. The same on all ranks.
  bool overwrite_input = false;
  bool measure = false;          ///< local transforms are timed when planned (FFTW_MEASURE), not estimated
  std::string wisdom_file = {};  ///< read before planning local transforms, written after; empty: none
};

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// The layout of the result: of the transformed shape (r2c, c2r change the last axis), distributed as the
/// options say. Throws ArgumentError: an axis named twice or out of range, real data to a complex transform
/// and the reverse, a wrong half-spectrum extent, a distribution that does not cover the array, options that
/// contradict each other.
PARTITA_API Layout result_layout(const Operand& input, const Topology& topology,
                                 const FftOptions& options = {}, const Machine& machine = {});
/// The same in a context: with its machine, and among its ranks as they reach each other's memory of the kind
/// that the input is in. Local.
PARTITA_API Layout result_layout(const Context& context, const Operand& input,
                                 const FftOptions& options = {});
/// Of the result: real to complex and back change it, in its precision. Pure.
PARTITA_API Dtype result_dtype(Dtype input, FftKind kind);

/// Buffers: 0 input, 1 output (the same array where in place), then scratch. `batch` transforms of the same
/// plan one behind the other use the scratch in turn. Where one of the two lies in device memory, the plan is
/// that of the device: the other is an array of the same layout on its heap there.
PARTITA_API Plan plan_fft(const Operand& input, const Operand& output, const Topology& topology, int rank,
                          const FftOptions& options = {}, const Machine& machine = {}, bool in_place = false);

// --- carrying out

/// One line each: a new array, on the symmetric heap unless the options say otherwise. Collective over the
/// context of `input`; blocks until this rank's part is complete, unless `options.stream` is set; the input
/// keeps its values, but see `FftOptions::overwrite_input`. The plan is cached in the context. Errors, the
/// same on every rank: ArgumentError, DisagreementError, UnsupportedError (no FFTW on this machine),
/// MemoryError, TimeoutError.
///
/// What lies in device memory is transformed by its device, in the context's own stream, and so is its
/// result; UnsupportedError where there is no cuFFT.
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

/// The same into an array of the caller's, in any distribution, of the result's shape and dtype. `output` may
/// be `input` itself where shape and dtype stay. Of `irfft_into`, `last_length` is that of the output if
/// nothing is said. Where one of the two lies in device memory and the other in host memory, this rank's part
/// of the latter is copied to the device's heap before, or from there after. Errors, too: ArgumentError (an
/// output of another shape, dtype or context, or that shares memory with the input without being the same
/// array; an output that the options want elsewhere).
PARTITA_API void fft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void ifft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void rfft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void irfft_into(const Array& input, Array& output, const FftOptions& options = {});
PARTITA_API void dct_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void idct_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void dst_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});
PARTITA_API void idst_into(const Array& input, Array& output, int type = 2, const FftOptions& options = {});

/// The array with the extents of `shape`: cut off at the end of an axis that becomes shorter, and followed by
/// zeros along one that becomes longer, as NumPy and SciPy do with the `n` and `s` of their transforms. The
/// same dtype and the same rule of distribution; along an axis that the distribution cuts, elements move to
/// their new owners. A new array on the symmetric heap, in the memory space of the array; the array itself if
/// it has that shape. Collective; blocks until this rank's part is complete, or is stream-ordered
/// (<partita/stream.hpp>). Errors, the same on every rank: ArgumentError (other than one length per axis, a
/// length below 1, a partial array), DisagreementError, UnsupportedError (a stream for host memory),
/// MemoryError.
PARTITA_API Array crop_or_pad(const Array& array, const Shape& shape, std::optional<Stream> stream = {},
                              SourcePlace where = SourcePlace::current());

/// Plan once, execute many times: forward from the input's layout to the output's and inverse back. Creation
/// and execution are collective and blocking (but for executions with a stream); a second execute allocates
/// nothing and makes no collective call beyond the exchange. Not copyable; one object must not be used from
/// two threads at once.
class PARTITA_API FFT {
 public:
  /// Collective. The output: as the options say, or this operand; the memory of the input where in place.
  /// Errors, the same on every rank, as of `fft`; also ArgumentError where `options.stream` is set.
  FFT(const Context& context, const Operand& input, const FftOptions& options = {});
  FFT(const Context& context, const Operand& input, const Operand& output, const FftOptions& options = {},
      bool in_place = false);
  ~FFT();
  FFT(FFT&&) noexcept;
  FFT& operator=(FFT&&) noexcept;

  /// The operand of the result.
  const Operand& output() const;

  /// Binds the arrays for execute() without arrays; the same array twice where in place. Local.
  void reset(const Array& input, Array& output);
  /// Collective, blocking, as `fft`; ArgumentError where no arrays are bound, or they are not those of the
  /// plan. `scale` multiplies in addition to the norm's factor.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on it (`Stream{}`: the context's own) and
  /// returns.
  /// The contract then holds in stream order: what the stream does next may overwrite the input, read the
  /// output or free either. `Context::synchronize` waits, and throws what went wrong. Plans with messages
  /// (between nodes) wait for them here, unless NCCL carries them. Local transforms are planned when the
  /// object is made, those of `inverse` at its first use, which waits for the device. UnsupportedError: host
  /// memory.
  ///
  /// A stream that is being captured gets the work into its graph, with this scale; nothing is done now. The
  /// graph may be started as one of `Redistribute::execute` may, with the same duties. UnsupportedError, the
  /// same on every rank: a plan with messages that the host waits for, or one that has yet to be made.
  void execute(std::optional<Stream> stream = {});
  void execute(const Array& input, Array& output, double scale = 1, std::optional<Stream> stream = {});
  /// The opposite transform, from `output`'s layout to `input`'s; planned at its first use (collective).
  void inverse(const Array& output, Array& input, double scale = 1, std::optional<Stream> stream = {});
  /// Several transforms of the plan, one call: messages of one overlap the computing of the next.
  void execute_batch(const std::vector<Array>& inputs, std::vector<Array>& outputs, double scale = 1,
                     std::optional<Stream> stream = {});

  /// Times methods, grids and exchange ways on scratch arrays and keeps the fastest. Collective. Returns its
  /// name.
  std::string autotune(int runs = 3);

  /// Bytes of scratch on this rank, as a workspace of the caller's holds them.
  std::int64_t workspace_size() const;
  /// Scratch from the caller: an array of the plan's context on the symmetric heap, of the device where that
  /// transforms, at least the largest workspace_size() of all ranks; must outlive its use. Buffers of
  /// messages that are staged through the host stay the plan's own. Collective. ArgumentError, the same on
  /// every rank: an array of another context or of ordinary memory, too small, in the wrong memory space.
  void set_workspace(const Array& workspace);
  /// Frees scratch now (collective); the next execute makes it anew.
  void release();

  const Plan& plan() const;  ///< this rank's, forward
  /// That in words. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
