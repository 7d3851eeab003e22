// Functions of many matrices [.., m, n]: each matrix by one rank, or one after the other by all ranks.
#pragma once

#include <functional>
#include <optional>
#include <partita/linalg.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace partita::linear {

/// Whether the array has dimensions before those of a matrix.
bool is_batch(const Array& a);

/// Throws ArgumentError for anything but matrices in f32, f64, c64 or c128, square if asked. Local.
void check_batch(std::string_view operation, const Array& a, bool square);

/// What is computed of each matrix of a batch.
struct BatchJob {
  /// Of one matrix: [m, n], [n] or [].
  struct Output {
    Shape extents;
    Dtype dtype = Dtype::f64;
  };
  /// Addresses of the matrices, column-major without gaps.
  using Addresses = std::span<void* const>;

  std::string_view operation;  // a literal
  /// The first is the batch; others have its leading dimensions, or none if they are the same for all
  /// matrices.
  std::vector<Array> inputs = {};
  std::vector<Output> outputs = {};
  /// One matrix by one rank, in host memory. The input of a batch may be overwritten.
  std::function<void(Addresses inputs, Addresses outputs)> local = {};
  /// One matrix by all ranks.
  std::function<std::vector<Array>(const std::vector<Array>& inputs)> together = {};
};

/// Memory and distribution of results. Without a distribution an output has the layout of an input of its
/// shape, otherwise rows of a leading dimension on each rank.
struct BatchPlace {
  std::optional<Distribution> distribution = {};
  Order order = Order::row_major;
  Residency residency = Residency::heap;
  std::optional<MemorySpace> space = {};  ///< unset: that of the first input
};

/// The outputs [.., extents]. What one rank throws, all throw. Collective, blocking.
std::vector<Array> run_batch(const BatchJob& job, const BatchPlace& place, SourcePlace where);

/// Functions of <partita/linalg.hpp> for batches.
Array solve_batch(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where);
Array solve_triangular_batch(const Array& t, const Array& b, const TriangularOptions& options,
                             SourcePlace where);
Array lstsq_batch(const Array& a, const Array& b, const SolveOptions& options, SourcePlace where);
Array cholesky_batch(const Array& a, SourcePlace where);
Array inverse_batch(const Array& a, SourcePlace where);
QrFactors qr_batch(const Array& a, SourcePlace where);

}  // namespace partita::linear
