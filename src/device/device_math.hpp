// What a device computes: products by the vendor's BLAS, and passes over elements by kernels of our own.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/compute_type.hpp>
#include <partita/dtype.hpp>
#include <partita/stream.hpp>
#include <partita/work.hpp>
#include <span>
#include <string>
#include <vector>

namespace partita::devices {

/// What BLAS does with a factor before it multiplies.
enum class BlasOp : std::uint8_t { none, transpose, conjugate_transpose };

/// c = activation(alpha op(a) op(b) + beta c + bias), `batches` times, in the terms of BLAS: every matrix by
/// columns, `leading` elements from one column to the next; `stride` elements from one matrix of a batch to
/// the next. The bias has an element a row of c, the same for each batch.
struct DeviceGemm {
  /// A matrix of c's shape and dtype.
  struct Beside {
    std::int64_t leading = 1, stride = 0;
    bool operator==(const Beside&) const = default;
  };
  struct Factor {
    BlasOp op = BlasOp::none;
    std::int64_t leading = 1;
    std::int64_t stride = 0;
    Dtype dtype = Dtype::f64;
    bool operator==(const Factor&) const = default;
  };
  Dtype result = Dtype::f64;                     ///< of c, and in which is summed
  ComputeType compute = ComputeType::automatic;  ///< at least so precisely
  std::int64_t m = 0, n = 0, k = 0;
  Factor a, b;
  std::int64_t leading = 1, stride = 0;          ///< of c
  Activation activation = Activation::identity;  ///< identity, relu, gelu or dgelu
  std::optional<Dtype> bias = {};                ///< nothing: there is none
  std::optional<Beside> addend = {};             ///< what beta multiplies, where it is not c itself
  /// Of gelu: where it writes what it was made of; of dgelu: what it reads, as ApplyEpilogue says it.
  std::optional<Beside> auxiliary = {};
  std::int64_t batches = 1;
  /// In bytes, a power of two: what is known of the places of a, b, c and the addend before they are.
  std::int64_t alignment = 1;
  bool operator==(const DeviceGemm&) const = default;

  /// There is no more than alpha op(a) op(b) + beta c.
  bool ends_with_sums() const { return activation == Activation::identity && !bias && !addend; }
  /// Whether the elements have one byte; they have separate alignment rules: `narrow_alignment`.
  bool is_narrow() const { return size_of(a.dtype) == 1; }
};

/// Factors with one byte per element are multiplied only if both are contiguous along k (op(a) transposed,
/// op(b) not), with sizes, leading dimensions and strides that are multiples of this number, in memory that
/// is aligned to it (in bytes).
inline constexpr std::int64_t narrow_alignment = 16;

/// In bytes: where lines of a matrix of halves begin that tensor cores multiply at their speed.
inline constexpr std::int64_t matrix_alignment = 16;

/// In which is computed what results in this dtype.
constexpr Dtype wide(Dtype result) {
  return result == Dtype::f16 || result == Dtype::bf16 ? Dtype::f32 : result;
}

/// Where the matrices of a product begin, and its bias.
struct GemmPlaces {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;  ///< these are null where the product has none
  const void* addend = nullptr;
  void* auxiliary = nullptr;
};

/// In bytes: a bias and an auxiliary matrix are aligned so wherever they come with a product, and the leading
/// dimension and the stride of the latter are multiples of that many elements.
inline constexpr std::int64_t bias_alignment = 16, auxiliary_elements = 8;

/// A prepared product.
class DeviceProduct {
 public:
  explicit DeviceProduct(const DeviceGemm& product) : what(product) {}
  virtual ~DeviceProduct() = default;
  DeviceProduct(const DeviceProduct&) = delete;
  DeviceProduct& operator=(const DeviceProduct&) = delete;

  const DeviceGemm what;
};

/// A nest of loops over the elements of several parts: where loop l is at i, part x is i * strides[l][x]
/// elements behind its first one, which is at `offset[x]`. Outermost first; most_loops at most.
struct ElementNest {
  static constexpr std::size_t parts = 7, most_loops = 16;
  struct Loop {
    std::int64_t count = 1;
    std::array<std::int64_t, parts> strides{};
  };
  std::array<std::int64_t, parts> offset{};
  std::vector<Loop> loops;
};

/// to = scale_d activation(scale_a scale_b scale from + beta c + bias), element by element, as ApplyEpilogue
/// says it. The numbers of the parts are those in a nest.
struct ElementPass {
  enum Part : std::size_t { from, to, c, auxiliary, bias, scale_a, scale_b };
  Dtype computed =
      Dtype::f64;  ///< f32, f64, c64, c128 or i32; real dtypes may differ from it where it is f32
  Activation activation = Activation::identity;
  std::array<Dtype, ElementNest::parts> dtypes{};
  std::array<void*, ElementNest::parts> data{};  ///< null: there is none; without `from` it counts as 0
  double scale = 1;
  std::complex<double> beta{0, 0};  ///< where it is 0, c is not read
  const void* scale_d = nullptr;    ///< a number of f32; null: 1
  /// A non-negative f32 number that becomes the maximum of itself and of the absolute values of the result
  /// before scale_d; null: not requested.
  void* amax = nullptr;
};

/// What a context computes with on its device; made by Accelerator::math. Calls put their work into `stream`
/// and return; they allocate nothing, wait for nothing, and may be captured. Of two streams only one at a
/// time may have such work: they share a workspace. For the thread that drives the context. The same product
/// gives the same bits each time, as long as the context is there.
class DeviceMath {
 public:
  virtual ~DeviceMath() = default;

  virtual std::string name() const = 0;  ///< "cuBLAS 13.1.0"
  /// Whether `gemm` supports these dtypes. Half precision is accumulated in f32; f32 is multiplied in f32
  /// unless the product allows less precision.
  virtual bool multiplies(Dtype a, Dtype b, Dtype result) const = 0;
  /// Whether a product of such factors is so much slower where a matrix is not `matrix_alignment` that
  /// copying it first is worth while.
  virtual bool wants_aligned(Dtype factors, std::int64_t m, std::int64_t n, std::int64_t k) const = 0;
  /// Chooses how such a product is made, after some tries on the device if it may take the time for them, and
  /// loads what it needs, so that `gemm` does not while a stream waits for a peer. May wait for the device.
  virtual std::shared_ptr<DeviceProduct> prepare(const DeviceGemm& what, bool may_try) = 0;
  /// What has been chosen since this was asked last, for the other ranks; empty: nothing.
  virtual std::string news_of_choices() { return ""; }
  /// The news of all ranks: those of the first rank count, so that all make the same product the same way.
  virtual void agree_on_choices(std::span<const std::string> /*news*/) {}
  /// Whether `gemm` can compute the product for matrices at these addresses.
  virtual bool makes(const DeviceProduct& product, const GemmPlaces& places) const = 0;
  /// With beta = 0 neither `c` nor the addend is read. m, n and k are not 0. Only what it `makes`, where
  /// something comes after the sums.
  virtual void gemm(const DeviceProduct& product, const GemmPlaces& places, std::complex<double> alpha,
                    std::complex<double> beta, Stream stream) = 0;
  /// One nest of a pass; no loop has a count of 0.
  virtual void pass(const ElementPass& what, const ElementNest& nest, Stream stream) = 0;
};

}  // namespace partita::devices
