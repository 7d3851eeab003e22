// What a device factorizes with: the vendor's LAPACK and triangular solves, and for few columns and exchanges
// of rows kernels of our own.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/dtype.hpp>
#include <partita/op.hpp>
#include <partita/stream.hpp>
#include <partita/work.hpp>
#include <span>
#include <string>
#include <variant>

namespace partita::devices {

// Every matrix is stored by columns, `leading` elements from one column to the next. Dtypes: f32, f64, c64 or
// c128. No size is 0.

/// See FactorPanel; a Cholesky factorization is of the lower triangle, m >= n.
struct DeviceFactorization {
  Factorization kind = Factorization::lu;
  Dtype dtype = Dtype::f64;
  std::int64_t m = 0, n = 0, leading = 1;
  bool operator==(const DeviceFactorization&) const = default;
};

/// See TriangularSolve; `op` is not `conjugate`. m x n: what is solved for.
struct DeviceTriangularSolve {
  Dtype dtype = Dtype::f64;
  Op op = Op::none;
  bool upper = false, unit_diagonal = false, from_right = false;
  std::int64_t m = 0, n = 0, leading = 1;
  std::int64_t leading_triangle = 1;
  bool operator==(const DeviceTriangularSolve&) const = default;
};

/// See ApplyReflectors: k reflectors of m elements, onto n columns; k <= m. At most
/// DeviceFactorizations::most_reflectors.
struct DeviceReflectors {
  Dtype dtype = Dtype::f64;
  bool adjoint = false;
  std::int64_t m = 0, n = 0, k = 0, leading = 1;
  std::int64_t leading_reflectors = 1;
  bool operator==(const DeviceReflectors&) const = default;
};

/// See ExchangeRows: rows i and pivots[i] < m for i = 0, .., count - 1, or backward, of n columns.
struct DeviceRowExchange {
  Dtype dtype = Dtype::f64;
  bool backward = false;
  std::int64_t m = 0, n = 0, leading = 1, count = 0;
  std::int64_t panel =
      0;  ///< pivots are counted from the first row of their panel of so many rows; 0: from row 0
};

/// The part of one device in a solve of several, each of which makes the same call: `own` of its columns of a
/// triangle [m, m], which are distributed cyclically, `width` at a time, and of the rows of X that go with
/// them.
struct DeviceSharedSolve {
  DeviceTriangularSolve own;
  int rank = 0, ranks = 1;
  std::int64_t width = 64;
};

/// `words`: by rank, shared_bytes of its memory, at a multiple of 256, cleared before any device makes the
/// call. `given`: [m, n], what is solved for; null: it is in `rows`. `given_up`: as of FlagOperation.
struct SharedSolvePlaces {
  const void* columns = nullptr;
  void* rows = nullptr;
  const void* given = nullptr;
  std::span<void* const> words;
  const std::uint64_t* given_up = nullptr;
};

/// What one DeviceReflectors may have.
struct MostReflectors {
  std::int64_t reflectors = 1, columns = 1;
};

using FactorCall = std::variant<DeviceFactorization, DeviceTriangularSolve, DeviceReflectors>;

/// A prepared call.
class PreparedFactorCall {
 public:
  explicit PreparedFactorCall(const FactorCall& call) : what(call) {}
  virtual ~PreparedFactorCall() = default;
  PreparedFactorCall(const PreparedFactorCall&) = delete;
  PreparedFactorCall& operator=(const PreparedFactorCall&) = delete;

  virtual std::int64_t workspace_bytes() const = 0;

  const FactorCall what;
};

/// What a context factorizes with on its device; made by Accelerator::factorizations. Calls put their work
/// into `stream` and return; they allocate nothing and wait for nothing. Captured are those that the library
/// can put into a graph; others throw UnsupportedError there. Of two streams only one at a time may have such
/// work, but one may factorize while another does the rest. Workspaces have workspace_bytes(), at a multiple
/// of 256. For the thread that drives the context.
class DeviceFactorizations {
 public:
  virtual ~DeviceFactorizations() = default;

  virtual std::string name() const = 0;  ///< "cuSOLVER 12.0.4"
  /// For reflectors of `rows` elements: bounds the library's workspace and its sizes, which may have 32 bits.
  virtual MostReflectors most_reflectors(std::int64_t rows) const = 0;
  /// Loads what it needs, so that the call does not while a stream waits for a peer. May wait for the device.
  /// Errors: UnsupportedError.
  virtual std::shared_ptr<PreparedFactorCall> prepare(const FactorCall& what) = 0;
  /// A DeviceFactorization. `pivots`: i32 counted from 0 of lu, tau of qr, null of cholesky. `status`: an
  /// i32.
  virtual void factor(const PreparedFactorCall& call, void* panel, void* pivots, void* status,
                      void* workspace, Stream stream) = 0;
  /// A DeviceTriangularSolve.
  virtual void solve(const PreparedFactorCall& call, const void* triangle, void* to, void* workspace,
                     Stream stream) = 0;
  /// DeviceReflectors.
  virtual void apply(const PreparedFactorCall& call, const void* reflectors, const void* factors, void* to,
                     void* workspace, Stream stream) = 0;
  /// Eigenvalues, ascending, of the Hermitian matrix [n, n] whose lower triangle is at `a`, without gaps, all
  /// in device memory; `a` becomes the eigenvectors if `vectors`, otherwise it is destroyed. `values` has n
  /// elements in the dtype of the parts. Allocates its workspace and waits for the stream, which is not
  /// captured. Errors: MemoryError, UnsupportedError; Error if the iteration does not converge.
  virtual void eigen_hermitian(Dtype dtype, std::int64_t n, void* a, void* values, bool vectors,
                               Stream stream) = 0;
  virtual std::int64_t workspace_bytes(const DeviceRowExchange& what) const = 0;
  /// Pivots outside of the matrix exchange nothing.
  virtual void exchange(const DeviceRowExchange& what, const void* pivots, void* to, void* workspace,
                        Stream stream) = 0;
  /// Of the words of a DeviceSharedSolve; 0: it is not offered. The same wherever it is.
  virtual std::int64_t shared_bytes(const DeviceSharedSolve& /*what*/) const { return 0; }
  virtual void clear_words(void* /*words*/, std::int64_t /*bytes*/, Stream /*stream*/) {}
  virtual void solve_shared(const DeviceSharedSolve& /*what*/, const SharedSolvePlaces& /*places*/,
                            Stream /*stream*/) {}
};

}  // namespace partita::devices
