// Distributed matrix multiply: D = F(alpha op(A) op(B) + beta C), with scales for FP8.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/compute_type.hpp>
#include <partita/machine.hpp>
#include <partita/names.hpp>
#include <partita/op.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <string>
#include <vector>

namespace partita {

/// The function F, with the names of cuBLAS. The bias has one number per row of D (length m). The auxiliary
/// array has D's shape: forward epilogues write it (the value before the activation), backward ones read it.
enum class Epilogue : std::uint8_t {
  none,
  all_reduce,  ///< D is replicated: every rank gets the complete sum
  relu,
  relu_aux,
  bias,
  bias_aux,
  relu_bias,
  relu_bias_aux,
  gelu,  ///< tanh form; error at most one rounding of max(|x|, |gelu(x)|)
  gelu_aux,
  gelu_bias,
  gelu_bias_aux,
  drelu,                ///< times the derivative of relu at the auxiliary values
  drelu_bias_gradient,  ///< as drelu; the gradient (length m) is the sums of D along its rows
  dgelu,                ///< times the derivative of gelu; half precision: at most two roundings
  dgelu_bias_gradient,
  bias_gradient_a,  ///< the gradient (length m) is the sums of op(A) over k
  bias_gradient_b,  ///< the gradient (length n) is the sums of op(B) over k
};
template <>
struct OptionWords<Epilogue> {
  static constexpr std::string_view what = "epilogue";
  static constexpr std::string_view words[]{"none",
                                            "all-reduce",
                                            "relu",
                                            "relu-aux",
                                            "bias",
                                            "bias-aux",
                                            "relu-bias",
                                            "relu-bias-aux",
                                            "gelu",
                                            "gelu-aux",
                                            "gelu-bias",
                                            "gelu-bias-aux",
                                            "drelu",
                                            "drelu-bias-gradient",
                                            "dgelu",
                                            "dgelu-bias-gradient",
                                            "bias-gradient-a",
                                            "bias-gradient-b"};
};

/// Algorithms by the operand that moves; docs/algorithms.md describes their steps.
enum class MatmulMethod : std::uint8_t {
  automatic,
  local,           ///< every rank owns what it needs; no communication
  all_gather,      ///< the moving operand is read or gathered in tiles, the rank's own tile first
  reduce_scatter,  ///< partial products are computed in tiles and reduced to their owners, own tile last
  all_reduce,      ///< partial products are reduced to every rank
  summa_c,         ///< SUMMA, C stationary (van de Geijn and Watts 1997)
  summa_a,         ///< SUMMA, A stationary
  summa_b,         ///< SUMMA, B stationary
  communication_avoiding,  ///< a grid over m, n and k with the fewest bytes within the memory limit
                           ///< (Kwasniewski et al. 2019; Demmel et al. 2013)
};
template <>
struct OptionWords<MatmulMethod> {
  static constexpr std::string_view what = "method of a multiply";
  static constexpr std::string_view words[]{"automatic",      "local",      "all-gather",
                                            "reduce-scatter", "all-reduce", "summa-c",
                                            "summa-a",        "summa-b",    "communication-avoiding"};
};

/// How the scales of f8 operands, `scale_a` and `scale_b`, apply to their elements, with the meanings of
/// cuBLASLt.
enum class ScaleMode : std::uint8_t {
  automatic,      ///< tensor or outer_vector, by the shape of each
  tensor,         ///< one number for all elements
  outer_vector,   ///< one per row of op(A), and one per column of op(B)
  block32_ue8m0,  ///< MXFP8: 8 bits per 32 elements along k. Not supported: UnsupportedError
  block16_ue4m3,  ///< NVFP4: 8 bits per 16 elements along k. Not supported: UnsupportedError
};
template <>
struct OptionWords<ScaleMode> {
  static constexpr std::string_view what = "scale mode";
  static constexpr std::string_view words[]{"automatic", "tensor", "outer-vector", "block32-ue8m0",
                                            "block16-ue4m3"};
};

/// Options of a multiply.
struct MatmulOptions {
  /// If set, `matmul` and `matmul_into` are stream-ordered (<partita/stream.hpp>), for arrays in device
  /// memory, as `Matmul::execute` with a stream.
  std::optional<Stream> stream = {};
  Op op_a = Op::none;
  Op op_b = Op::none;
  std::complex<double> alpha{1, 0};
  std::complex<double> beta{0, 0};
  Epilogue epilogue = Epilogue::none;
  /// Distribution of a newly allocated result. If unset: that of C, or else the cheapest for the method. If D
  /// is given, must equal D's distribution.
  std::optional<Distribution> distribution = {};
  Order order = Order::row_major;         ///< of a newly allocated result
  Residency residency = Residency::heap;  ///< of a newly allocated result
  /// Memory space of a newly allocated result. If unset: the device if any of the arrays is there, otherwise
  /// the host.
  std::optional<MemorySpace> space = {};
  /// Dtype of D: by default that of the operands, i32 for i8, f32 for f8. Also allowed: f32 for f16 and bf16;
  /// for f8 (f8e4m3 and f8e5m2, in any combination) f16, bf16, f8e4m3 and f8e5m2.
  std::optional<Dtype> result = {};
  /// Minimum precision: f32 for f8 (tensor cores of devices add some products in 14 bits, see
  /// docs/algorithms.md), f16 and bf16, also f16 for f16; f32, tf32 and bf16x9 for f32 and c64;
  /// f64 for f64 and c128; i32 for i8, whose sums wrap around.
  ComputeType compute = ComputeType::automatic;
  /// Dtype to which alpha and beta are rounded: by default that of the sums (f32 for f8, f16
  /// and bf16, i32 for i8, the operands' for the others); also f16 for computation in f16. For i32 they must
  /// be representable integers: ArgumentError otherwise.
  std::optional<Dtype> scale = {};
  ScaleMode scale_mode = ScaleMode::automatic;
  /// Minimum precision of partial sums exchanged between ranks. If unset: the accumulation type.
  /// The dtype of D, if it is f16 or bf16, halves the bytes, and each rank's sums are rounded once
  /// more (as in NCCL's reductions of half precision; `reduce_dtype` of PyTorch's FSDP). Used between devices
  /// of a node, in packets and around the ring of ranks (docs/algorithms.md); ignored elsewhere.
  std::optional<Dtype> reduce_dtype = {};
  MatmulMethod method = MatmulMethod::automatic;
  /// Bound on the scratch of one rank, in bytes; 0: unlimited. Too small for any
  /// method: an ArgumentError that says how much is required. On devices it includes neither the workspace of
  /// products nor copies of arrays in host memory.
  std::int64_t memory_limit = 0;
  /// On devices several algorithms are timed when a product is first planned. The fastest are read
  /// from the file with this name and the suffix ".products" before, and written to it after. Empty: they are
  /// kept as long as the process.
  std::string wisdom_file = {};
};

/// The arrays of an epilogue. Arrays that the epilogue does not use must be null.
struct EpilogueArrays {
  const Array* bias = nullptr;  ///< [m] (broadcast over batches), any distribution
  Array* auxiliary = nullptr;   ///< D's shape and dtype, any distribution
  Array* gradient = nullptr;    ///< [m] or [n], overwritten
  /// For multiplies of f8, all f32 and in any distribution; null means 1. With them
  /// D = scale_d F(scale_a scale_b alpha op(A) op(B) + beta C); for a D in f8, values beyond its
  /// largest number are clamped to it (NaN stays). C, bias and auxiliary have no scales.
  const Array* scale_a = nullptr;  ///< a scalar ({}) or [m]
  const Array* scale_b = nullptr;  ///< a scalar or [n]
  const Array* scale_d = nullptr;  ///< a scalar; only for a D in f8
  /// A scalar of f32, overwritten with the largest absolute value of D before scale_d and rounding: 0
  /// if D is empty, NaN if it contains one.
  Array* amax_d = nullptr;
};

/// The operands of an epilogue, by the names of `EpilogueArrays`; unset where it does not use them.
struct EpilogueOperands {
  std::optional<Operand> bias = {};
  std::optional<Operand> auxiliary = {};
  std::optional<Operand> gradient = {};
  std::optional<Operand> scale_a = {};
  std::optional<Operand> scale_b = {};
  std::optional<Operand> scale_d = {};
  std::optional<Operand> amax_d = {};
};

/// The operands of a multiply as planners see them: a: [.., m, k], or [.., k, m] with a transposing op; b:
/// [.., k, n] or [.., n, k]; c and d: [.., m, n]. As in NumPy, a or b of one dimension is a vector [k], on
/// the left a row and on the right a column, and c and d omit that dimension: [.., n], [.., m], or, for two
/// vectors, the shape of a scalar. Transposition does not change vectors.
struct MatmulOperands {
  Operand a;
  Operand b;
  std::optional<Operand> c =
      {};  ///< present where beta C is needed; may describe the same array as d (in place)
  Operand d;
  EpilogueOperands epilogue = {};
};

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// Throws ArgumentError if shapes cannot be multiplied, layouts are not bound to `topology.ranks()` ranks,
/// the dtypes are not supported together (the text lists supported ones), or the memory limit is too small;
/// UnsupportedError if `compute`, `scale` or `scale_mode` is not supported for the dtypes.
/// Buffers, in this order: a, b, c (if any), d, bias, auxiliary, gradient, scale_a, scale_b, scale_d, amax_d
/// (those present), then scratch. `machine` prices the methods; `in_place`: c and d are the same memory.
/// If some operands are in device memory, the plan is that of the device: the others become arrays with the
/// same layouts on its heap, and the plan's reason lists the copies.
PARTITA_API Plan plan_matmul(const MatmulOperands& operands, const Topology& topology, int rank,
                             const MatmulOptions& options = {}, const Machine& machine = {},
                             bool in_place = false);

/// The layout of a D whose distribution is not given: that of C, else the one in which the chosen method
/// computes it; for two vectors every rank gets the number. Shapes after op. Pure, the same for
/// every rank.
PARTITA_API Layout cheapest_result(const Operand& a, const Operand& b, const Topology& topology,
                                   const MatmulOptions& options = {}, const Machine& machine = {});

/// The same in a context: with its machine, and for its ranks as they access each other's memory where the
/// product is computed (on the devices if an operand, or D by `options.space`, is in their memory). Local.
PARTITA_API Layout cheapest_result(const Context& context, const Operand& a, const Operand& b,
                                   const MatmulOptions& options = {});

/// The dtype of a new D for factors of this dtype: `options.result`, or its default. Pure.
PARTITA_API Dtype result_dtype(Dtype factors, const MatmulOptions& options = {});

/// The elements that a rank receives from other ranks in its plan, owned elements excluded (elements read in
/// place in a neighbour's memory count once), and its scratch, in elements of A.
struct MatmulVolume {
  std::int64_t received = 0;  ///< elements
  std::int64_t scratch = 0;   ///< elements
};
/// The volume of a plan of `plan_matmul`. Pure.
PARTITA_API MatmulVolume matmul_volume(const Plan& plan);

/// How the work and the operands of a multiply are divided among the ranks. Members that are 0: evenly, that
/// is mnk/P, mk/P, kn/P and mn/P.
struct MatmulShares {
  double multiplications = 0;  ///< of the rank that makes most
  double a = 0;                ///< elements of A that the rank with the largest part owns
  double b = 0;                ///< of B
  double d = 0;                ///< of D
};

/// Lower bound on the elements that ranks receive on average in any plan, and so on the maximum. x, y
/// and z elements of A, B and D are needed for V multiplications, with xyz >= V^2 (Loomis and Whitney 1949),
/// x >= V/n, y >= V/m and z >= V/k; elements that a rank owns need not be received. If the work is divided
/// evenly, V = mnk/P, and the minimum of x + y + z is that of Al Daas, Ballard, Grigori, Kumar and Rouse
/// (2022), 3 (mnk/P)^(2/3) for nearly square matrices. With `scratch` elements in addition to the owned ones
/// on each rank (0: unlimited), it is at least 2V / sqrt(M) minus the owned ones, with M all elements of a
/// rank (Kwasniewski et al. 2019). Never negative. Pure.
PARTITA_API double matmul_volume_bound(std::int64_t m, std::int64_t n, std::int64_t k, int ranks,
                                       std::int64_t scratch = 0, const MatmulShares& shares = {});

// --- execution

/// One-line call: returns a new D on the symmetric heap, or as the options say (`matmul_into`: into a given
/// array, or in place of C: `d` and `c` the same array). Collective over the context of `a`; blocks until
/// this rank's part is complete and its operands may be overwritten, unless `options.stream` is set. The plan
/// is cached in the context. With beta = 0 C is never read; with alpha = 0 or k = 0 neither A nor B is read
/// or moved. alpha and beta must be the same on all ranks. NaN and Inf propagate as in BLAS. Errors,
/// the same on every rank: ArgumentError (shapes, dtypes, D aliasing A or B, arrays of several contexts,
/// epilogue arrays missing or superfluous, memory limit), DisagreementError, UnsupportedError (no BLAS on
/// this machine; a compute type or scale that the dtypes do not have; block scales; device memory requested
/// in a context without a device), MemoryError, TimeoutError.
///
/// D's layout (unless `distribution` or C determines it) may change with the shapes and the number of
/// ranks, and need not be A's or B's: check it before you combine local parts of D with another array's.
/// `dot` (array_reductions.hpp) compares the layouts.
///
/// Arrays in device memory are multiplied by their device, on the context's own stream. If only some arrays
/// are there, this rank's parts of the others are copied to the device's heap before (if they
/// are read), and back after (if they are written); `explain` lists them.
PARTITA_API Array matmul(const Array& a, const Array& b, const MatmulOptions& options = {},
                         const EpilogueArrays& arrays = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array matmul(const Array& a, const Array& b, const Array& c, const MatmulOptions& options = {},
                         const EpilogueArrays& arrays = {}, SourcePlace where = SourcePlace::current());
PARTITA_API void matmul_into(const Array& a, const Array& b, const Array* c, Array& d,
                             const MatmulOptions& options = {}, const EpilogueArrays& arrays = {});

/// Plan once, execute many times. Creation, `autotune` and `execute` are collective and blocking (except
/// `execute` with a stream); `execute` allocates nothing, and when it returns the caller may overwrite the
/// operands, read D and free any of them.
/// alpha and beta are passed to each execution, the same on all ranks (default: those of the options);
/// beta must be 0 if the plan has no c. With alpha = 0 neither A nor B is read; the first
/// such execution makes a plan for it. Not copyable; one object must not be used from two threads at once.
class PARTITA_API Matmul {
 public:
  /// `in_place`: c and d are the same memory. Errors, the same on every rank, as for `matmul`; also
  /// ArgumentError if `options.stream` is set.
  Matmul(const Context& context, const MatmulOperands& operands, const MatmulOptions& options = {},
         bool in_place = false);
  ~Matmul();
  Matmul(Matmul&&) noexcept;
  Matmul& operator=(Matmul&&) noexcept;

  /// Binds the arrays that `execute` uses. Local; they must match the operands of the plan and outlive their
  /// use.
  void reset(const Array& a, const Array& b, const Array* c, Array& d, const EpilogueArrays& arrays = {});
  /// Releases the arrays that are bound; `reset` binds others. Local. Without it they stay allocated until
  /// the next `reset`, or until this object is destroyed.
  void unbind();
  /// Executes the plan on the bound arrays; ArgumentError if none are bound.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on it (`Stream{}`: the context's own) and
  /// returns. The contract then holds in stream order: later work on the stream may overwrite the operands,
  /// read D or free any of them. alpha and beta are those of the call. `Context::synchronize` waits, and
  /// throws errors of the execution. Plans with messages (between nodes) wait for them here, unless NCCL
  /// transfers them; the first execution after `reset` with arrays in ordinary memory compares them with the
  /// other ranks, on the host. UnsupportedError: an array in host memory.
  ///
  /// On a stream that is being captured the work is added to its graph, with this alpha and beta; nothing is
  /// executed now. The contract of the graph is that of `Redistribute::execute`. UnsupportedError, the same
  /// on every rank: a plan whose messages the host waits for, which cannot be captured.
  void execute(std::optional<Stream> stream = {});
  void execute(std::complex<double> alpha, std::complex<double> beta, std::optional<Stream> stream = {});

  /// Times every applicable method on the bound arrays and keeps the fastest. D is overwritten; in place, C
  /// is saved and restored. Collective, blocking. Returns the name of the method.
  std::string autotune(int runs = 3);

  /// Bytes of scratch and of device copies of host arrays on this rank.
  std::int64_t workspace_size() const;
  /// Frees the scratch. Collective; the next execution plans again.
  void release();

  const Plan& plan() const;  ///< the plan of this rank
  /// The plan as text. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
