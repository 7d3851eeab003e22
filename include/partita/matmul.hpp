// Distributed matrix multiply: D = F(alpha op(A) op(B) + beta C), of f8 with scales.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <partita/array.hpp>
#include <partita/compute_type.hpp>
#include <partita/machine.hpp>
#include <partita/operand.hpp>
#include <partita/plan.hpp>
#include <partita/stream.hpp>
#include <string>
#include <vector>

namespace partita {

/// op(X) of a matrix X.
enum class Op : std::uint8_t {
  none,
  transpose,
  conjugate_transpose,  ///< of a real matrix: transpose
  conjugate,            ///< without transposition
};

/// F, with the names of cuBLAS. Bias has one number a row of D (length m). What has an auxiliary array writes
/// it (the value before the activation) in a forward epilogue and reads it in a backward one; it has D's
/// shape.
enum class Epilogue : std::uint8_t {
  none,
  all_reduce,  ///< D is replicated: every rank gets the whole sum
  relu,
  relu_aux,
  bias,
  bias_aux,
  relu_bias,
  relu_bias_aux,
  gelu,  ///< tanh form, to a rounding of the larger of |x| and |gelu(x)|
  gelu_aux,
  gelu_bias,
  gelu_bias_aux,
  drelu,                ///< times the derivative of relu at the auxiliary values
  drelu_bias_gradient,  ///< and the sums of D along its rows into the gradient (length m)
  dgelu,                ///< likewise, of gelu; of 16 bits to two roundings
  dgelu_bias_gradient,
  bias_gradient_a,  ///< sums of op(A) over k into the gradient (length m)
  bias_gradient_b,  ///< sums of op(B) over k into the gradient (length n)
};

/// What moves, and what stays; docs/algorithms.md has them in steps.
enum class MatmulMethod : std::uint8_t {
  automatic,
  local,           ///< every rank has what it needs
  all_gather,      ///< the moving operand is read or gathered piece by piece, own piece first
  reduce_scatter,  ///< partial products are made piece by piece and reduced to their owners, own piece last
  all_reduce,      ///< partial products, reduced to every rank
  summa_c,         ///< SUMMA, C stationary (van de Geijn and Watts 1997)
  summa_a,         ///< A stationary
  summa_b,         ///< B stationary
  communication_avoiding,  ///< a grid over m, n and k with the fewest bytes within the memory limit
                           ///< (Kwasniewski et al. 2019; Demmel et al. 2013)
};

/// What the factors are multiplied by, beside alpha, where they are of f8: how `scale_a` and `scale_b` belong
/// to their elements; with the meanings of cuBLASLt.
enum class ScaleMode : std::uint8_t {
  automatic,      ///< each as its shape says, tensor or outer_vector
  tensor,         ///< one number for all
  outer_vector,   ///< one for each row of op(A), and for each column of op(B)
  block32_ue8m0,  ///< MXFP8: one of 8 bits for 32 elements along k. Not offered: an UnsupportedError
  block16_ue4m3,  ///< NVFP4: one of 8 bits for 16 elements along k; likewise
};

/// What identifies a multiply beside its arrays. Behaviour first, performance after.
struct MatmulOptions {
  /// If set, `matmul` and `matmul_into` are stream-ordered (<partita/stream.hpp>), of arrays in device
  /// memory, as `Matmul::execute` with a stream.
  std::optional<Stream> stream = {};
  Op op_a = Op::none;
  Op op_b = Op::none;
  std::complex<double> alpha{1, 0};
  std::complex<double> beta{0, 0};
  Epilogue epilogue = Epilogue::none;
  /// Of a new result: nothing: C's, or the cheapest (whatever the method leaves the product in). Where the
  /// caller gives D it must be D's.
  std::optional<Distribution> distribution = {};
  Order order = Order::row_major;         ///< of a new result
  Residency residency = Residency::heap;  ///< likewise
  /// likewise; nothing: the device's where any of the arrays lies there, else the host's
  std::optional<MemorySpace> space = {};
  /// Of D: the operands' by default, i32 of i8, f32 of f8. Otherwise f32, too, of f16 and bf16, and of f8
  /// (f8e4m3 and f8e5m2, which may be multiplied by each other) f16, bf16, f8e4m3 and f8e5m2.
  std::optional<Dtype> result = {};
  /// At least so precisely: f32 for f8 (of which the tensor cores of devices add some at once in 14 bits, see
  /// docs/algorithms.md), f16 and bf16, f16 for f16, too; f32, tf32 and bf16x9 for f32 and c64;
  /// f64 for f64 and c128; i32 for i8, whose sums wrap around.
  ComputeType compute = ComputeType::automatic;
  /// To which alpha and beta are rounded, or one that has all its numbers: that of the sums (f32 for f8, f16
  /// and bf16, i32 for i8, the operands' for the others); f16, too, where computed in f16. Of i32 they must
  /// be integers that it has: ArgumentError otherwise.
  std::optional<Dtype> scale = {};
  ScaleMode scale_mode = ScaleMode::automatic;
  /// In which ranks send each other sums that several of them make, at least so precisely. Nothing: that of
  /// the sums. Or D's, where it is f16 or bf16: half the bytes, and what each rank has summed is rounded once
  /// more (as by NCCL's reductions of halves; `reduce_dtype` of PyTorch's FSDP). Used between devices of a
  /// node, in packets and around the ring of ranks (docs/algorithms.md); elsewhere they go as they are.
  std::optional<Dtype> reduce_dtype = {};
  MatmulMethod method = MatmulMethod::automatic;
  /// Bound on the scratch of one rank, in bytes; 0: as much as the fastest way takes. Too small for any
  /// method: an ArgumentError that says how much would do. Of devices it counts neither the workspace of
  /// their products nor copies of arrays in host memory.
  std::int64_t memory_limit = 0;
  /// On devices each product is tried in several ways when it is planned first; what was fastest is read
  /// before from the file of this name with ".products" behind it, and written there after. Empty: it is
  /// known as long as the process.
  std::string wisdom_file = {};
};

/// The arrays of an epilogue. What the epilogue does not use must be null.
struct EpilogueArrays {
  const Array* bias = nullptr;  ///< [m] (broadcast over batches), any distribution
  Array* auxiliary = nullptr;   ///< D's shape and dtype, any distribution
  Array* gradient = nullptr;    ///< [m] or [n], overwritten
  /// Of multiplies of f8, all of f32 and in any distribution; none is 1. With them
  /// D = scale_d F(scale_a scale_b alpha op(A) op(B) + beta C), and where D is of f8 what is beyond its
  /// largest number becomes that number (NaN stays). C, bias and auxiliary have no scales.
  const Array* scale_a = nullptr;  ///< a scalar ({}) or [m]
  const Array* scale_b = nullptr;  ///< a scalar or [n]
  const Array* scale_d = nullptr;  ///< a scalar; only where D is of f8
  /// A scalar of f32, overwritten with the largest absolute value of D before scale_d and before rounding: 0
  /// where there is none, NaN where there is one.
  Array* amax_d = nullptr;
};

/// The operands of a multiply as planners see them: a: [.., m, k], or [.., k, m] with a transposing op; b:
/// [.., k, n] or [.., n, k]; c and d: [.., m, n]. As in NumPy, a or b of one dimension is a vector [k], on
/// the left a row and on the right a column, and c and d have no such dimension: [.., n], [.., m], or, of two
/// vectors, a scalar's shape. Transposition leaves vectors as they are.
struct MatmulOperands {
  Operand a;
  Operand b;
  std::optional<Operand> c =
      {};  ///< present where beta C is wanted; may describe the same array as d (in place)
  Operand d;
  std::optional<Operand> bias = {};
  std::optional<Operand> auxiliary = {};
  std::optional<Operand> gradient = {};
  std::optional<Operand> scale_a = {};
  std::optional<Operand> scale_b = {};
  std::optional<Operand> scale_d = {};
  std::optional<Operand> amax_d = {};
};

// --- planning: pure functions, for any rank of any number of ranks, without MPI

/// Throws ArgumentError where shapes do not multiply, layouts are not bound to `topology.ranks()` ranks, the
/// dtypes are not supported together (the text lists what is), or the memory limit is too small;
/// UnsupportedError where they are not computed in what `compute`, `scale` and `scale_mode` say (likewise).
/// Buffers, in this order: a, b, c (if any), d, bias, auxiliary, gradient, scale_a, scale_b, scale_d, amax_d
/// (those there are), then scratch. `machine` prices the methods; `in_place`: c and d are the same memory.
/// Where some operands lie in device memory, the plan is that of the device: the others are arrays of the
/// same layouts on its heap there, and its reason says which are copied.
PARTITA_API Plan plan_matmul(const MatmulOperands& operands, const Topology& topology, int rank,
                             const MatmulOptions& options = {}, const Machine& machine = {},
                             bool in_place = false);

/// The layout that D gets when nobody asked for one: C's, else the one that the chosen method leaves the
/// product in; of two vectors every rank gets the whole, one number. Shapes after op. Pure, the same for
/// every rank.
PARTITA_API Layout cheapest_result(const Operand& a, const Operand& b, const Topology& topology,
                                   const MatmulOptions& options = {}, const Machine& machine = {});

/// The same in a context: with its machine, and among its ranks as they reach each other's memory where the
/// product is made (on the devices where an operand, or D by `options.space`, is in their memory). Local.
PARTITA_API Layout cheapest_result(const Context& context, const Operand& a, const Operand& b,
                                   const MatmulOptions& options = {});

/// The dtype of a new D, of factors of that dtype: `options.result`, or as it says there. Pure.
PARTITA_API Dtype result_dtype(Dtype factors, const MatmulOptions& options = {});

/// What a rank receives from other ranks in its plan, owned elements not counted (what it reads in place in a
/// neighbour's memory counts once), and the scratch that it holds, in elements of A.
struct MatmulVolume {
  std::int64_t received = 0;  ///< elements
  std::int64_t scratch = 0;   ///< elements
};
/// Of a plan of `plan_matmul`. Pure.
PARTITA_API MatmulVolume matmul_volume(const Plan& plan);

/// How the work and the operands of a multiply are divided among the ranks. Members that are 0: evenly, that
/// is mnk/P, mk/P, kn/P and mn/P.
struct MatmulShares {
  double multiplications = 0;  ///< of the rank that makes most
  double a = 0;                ///< elements of A that the rank with the largest part owns
  double b = 0;                ///< of B
  double d = 0;                ///< of D
};

/// No plan lets all ranks receive fewer elements on average than this, so some rank receives as many. x, y
/// and z elements of A, B and D are needed for V multiplications, with xyz >= V^2 (Loomis and Whitney 1949),
/// x >= V/n, y >= V/m and z >= V/k; what a rank owns it need not receive. V = mnk/P where the work is divided
/// evenly: the least x + y + z is then that of Al Daas, Ballard, Grigori, Kumar and Rouse (2022), 3
/// (mnk/P)^(2/3) for matrices that are nearly square. With `scratch` elements beside the owned ones on each
/// rank, 0 for memory without limit, it is at least 2V / sqrt(M) less what is owned, where M is all that a
/// rank holds (Kwasniewski et al. 2019). Never negative. Pure.
PARTITA_API double matmul_volume_bound(std::int64_t m, std::int64_t n, std::int64_t k, int ranks,
                                       std::int64_t scratch = 0, const MatmulShares& shares = {});

// --- carrying out

/// One line: a new D on the symmetric heap, or as the options say (or into memory that the caller gives, or
/// in place of C: `d` and `c` the same array). Collective over the context of `a`; blocks until this rank's
/// part is complete and its operands may be overwritten, unless `options.stream` is set. The plan is cached
/// in the context. With beta = 0 C is never read; with alpha = 0 or k = 0 neither A nor B, and nothing of
/// them moves. alpha and beta must be the same on all ranks. NaN and Inf pass as BLAS passes them. Errors,
/// the same on every rank: ArgumentError (shapes, dtypes, D aliasing A or B, arrays of several contexts,
/// epilogue arrays missing or superfluous, memory limit), DisagreementError, UnsupportedError (no BLAS on
/// this machine; a compute type or scale that the dtypes do not have; scales of blocks; device memory asked
/// for in a context without a device), MemoryError, TimeoutError.
///
/// D's layout (where neither `distribution` nor C says it) may change with the shapes and the number of
/// ranks, and need not be A's or B's: a sum over products of local parts of D and another array goes wrong
/// there. `dot` (array_reductions.hpp) compares the layouts.
///
/// Arrays in device memory are multiplied by their device, in the context's own stream. So are arrays of
/// which only some lie there: this rank's parts of the others are copied to the device's heap before (of
/// those that are read), and from there after (of those that are written); `explain` names them.
PARTITA_API Array matmul(const Array& a, const Array& b, const MatmulOptions& options = {},
                         const EpilogueArrays& arrays = {}, SourcePlace where = SourcePlace::current());
PARTITA_API Array matmul(const Array& a, const Array& b, const Array& c, const MatmulOptions& options = {},
                         const EpilogueArrays& arrays = {}, SourcePlace where = SourcePlace::current());
PARTITA_API void matmul_into(const Array& a, const Array& b, const Array* c, Array& d,
                             const MatmulOptions& options = {}, const EpilogueArrays& arrays = {});

/// Plan once, execute many times. Creation, `autotune` and `execute` are collective and blocking (but for
/// `execute` with a stream); `execute` allocates nothing, and when it returns the caller may overwrite the
/// operands, read D and free any of them.
/// alpha and beta are given anew at each execution, the same on all ranks (those of the options by default);
/// beta may only be other than 0 where the plan has a c. With alpha = 0 neither A nor B is read; the first
/// such execution makes a plan for it. Not copyable; one object must not be used from two threads at once.
class PARTITA_API Matmul {
 public:
  /// `in_place`: c and d are the same memory. Errors, the same on every rank, as of `matmul`; also
  /// ArgumentError where `options.stream` is set.
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
  /// Of the arrays that are bound; ArgumentError where there are none.
  ///
  /// With a stream, for arrays in device memory: enqueues the work on it (`Stream{}`: the context's own) and
  /// returns. The contract then holds in stream order: what the stream does next may overwrite the operands,
  /// read D or free any of them. alpha and beta are those of the call. `Context::synchronize` waits, and
  /// throws what went wrong. Plans with messages (between nodes) wait for them here, unless NCCL carries
  /// them; the first execution after `reset` with arrays in ordinary memory compares them with the other
  /// ranks, on the host. UnsupportedError: an array in host memory.
  ///
  /// A stream that is being captured gets the work into its graph, with this alpha and beta; nothing is done
  /// now. The graph may be started as one of `Redistribute::execute` may, with the same duties.
  /// UnsupportedError, the same on every rank: a plan whose messages the host waits for, which cannot be
  /// captured.
  void execute(std::optional<Stream> stream = {});
  void execute(std::complex<double> alpha, std::complex<double> beta, std::optional<Stream> stream = {});

  /// Times every method that fits on the bound arrays (D is overwritten; in place C is, too: then it is saved
  /// and put back) and keeps the fastest. Collective. Returns its name.
  std::string autotune(int runs = 3);

  /// Bytes of scratch on this rank, and of copies of arrays in host memory.
  std::int64_t workspace_size() const;
  /// Frees scratch now (collective); the next execute plans anew.
  void release();

  const Plan& plan() const;  ///< this rank's
  /// That in words. Local.
  std::string explain(const ExplainOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace partita
