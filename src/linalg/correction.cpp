#include "linalg/correction.hpp"

#include <algorithm>
#include <cmath>
#include <partita/array_reductions.hpp>
#include <partita/elementwise.hpp>

#include "linalg/conjugate.hpp"

namespace partita::linear {
namespace {

/// [first, second, extents of `rest`]
Shape stacked(std::int64_t first, std::int64_t second, const Shape& rest) {
  Shape shape{first, second};
  for (const std::int64_t extent : rest) shape.push_back(extent);
  return shape;
}

Shape without_first(const Shape& shape) {
  Shape rest;
  for (int d = 1; d < shape.size(); ++d) rest.push_back(shape[d]);
  return rest;
}

/// Columns of length 0 stay 0.
Numbers inverses_of(const std::vector<double>& norms) {
  Numbers result;
  for (const double norm : norms) result.emplace_back(norm == 0 ? 0 : 1 / norm);
  return result;
}

}  // namespace

std::vector<double> norms_of_columns(const Array& columns) {
  if (columns.shape().size() == 1) return {norm<double>(columns)};
  std::vector<double> result;
  for (const auto number : numbers_of(norm(columns, {0}, {.distribution = Replicated()})))
    result.push_back(number.real());
  return result;
}

// --- least squares with a Hessenberg matrix, by Givens rotations

void Gmres::Column::append(Numbers hessenberg, double below) {
  const std::size_t j = triangle.size();
  for (std::size_t i = 0; i < j; ++i) {
    const auto above = hessenberg[i], under = hessenberg[i + 1];
    hessenberg[i] = cosines[i] * above + std::conj(sines[i]) * under;
    hessenberg[i + 1] = -sines[i] * above + cosines[i] * under;
  }
  const double size = std::abs(hessenberg[j]), length = std::hypot(size, below);
  const std::complex<double> phase = size == 0 ? 1 : hessenberg[j] / size;
  cosines.push_back(length == 0 ? 1 : size / length);
  sines.push_back(length == 0 ? 0 : below / length * std::conj(phase));
  hessenberg[j] = phase * length;
  hessenberg.resize(j + 1);
  triangle.push_back(std::move(hessenberg));
  right.push_back(-sines[j] * right[j]);
  right[j] *= cosines[j];
}

Numbers Gmres::Column::solution() const {
  const std::size_t count = triangle.size();
  Numbers y(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t j = count; j-- > 0;) {
    y[j] = triangle[j][j] == 0.0 ? 0 : y[j] / triangle[j][j];
    for (std::size_t i = 0; i < j; ++i) y[i] -= triangle[j][i] * y[j];
  }
  return y;
}

// --- arrays

Gmres::Gmres(const Array& like, int steps) : sides_(without_first(like.shape())), most_(steps) {
  const Context context = like.context();
  const ArrayOptions memory{.space = like.local().space};
  const Shape all = stacked(steps, like.shape()[0], sides_);
  basis_ = zeros(context, all, Slab(1), like.dtype(), memory);
  products_ = empty(context, all, Slab(1), like.dtype(), memory);
  coefficients_ = empty(context, stacked(steps, 1, sides_), Replicated(), like.dtype(), memory);
}

/// The products of the basis with the columns, which are subtracted. All of the basis takes part, also the
/// zeros that no step has written yet, so that one plan serves all steps.
Numbers Gmres::project(Array& columns) {
  Array conjugated = columns;
  if (is_complex(columns.dtype())) {
    conjugated = clone(columns);
    conjugate(conjugated);
  }
  multiply(basis_, conjugated, products_);
  Numbers found = numbers_of(sum(products_, {1}, {.distribution = Replicated()}));
  for (auto& number : found) number = std::conj(number);
  write_numbers(found, coefficients_);
  multiply(basis_, coefficients_, products_);
  columns -= sum(products_, {0}, {.distribution = Slab(0)});
  return found;
}

/// By classical Gram-Schmidt, twice. Returns the coefficients column by column.
std::vector<Numbers> Gmres::orthogonalize(Array& columns) {
  const Numbers once = project(columns), again = project(columns);
  std::vector<Numbers> result(columns_.size());
  const std::size_t steps = corrections_.size();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t at = i * columns_.size() + c;
      result[c].push_back(once[at] + again[at]);
    }
    result[c].emplace_back(0);  // the element below, which `append` takes apart
  }
  return result;
}

Array Gmres::solve(const Preconditioned& system, const Array& residual, const std::vector<double>& targets,
                   int steps) {
  std::vector<double> norms = norms_of_columns(residual);
  corrections_.clear();
  columns_.assign(norms.size(), {});
  for (std::size_t c = 0; c < norms.size(); ++c) columns_[c].right.emplace_back(norms[c]);
  const std::vector<double> ones(norms.size(), 1);
  Array next = residual * replicated_numbers(residual, sides_, inverses_of(norms));
  scale(basis_, 0);
  for (bool goes_on = true; goes_on;) {
    const int step = steps_taken();
    Array place = basis_.window(stacked(step, 0, Shape::filled(sides_.size(), 0)),
                                stacked(1, residual.shape()[0], sides_));
    multiply(next, 1, place);
    corrections_.push_back(system.solve(next, ones));
    next = system.multiply(corrections_.back());
    std::vector<Numbers> found = orthogonalize(next);
    norms = norms_of_columns(next);
    goes_on = steps_taken() < std::min(steps, most_);
    bool is_done = true;
    for (std::size_t c = 0; c < norms.size(); ++c) {
      columns_[c].append(std::move(found[c]), norms[c]);
      const double rest = std::abs(columns_[c].right.back());
      is_done = is_done && !(rest > targets[c]);  // also NaN: the caller sees it in X
    }
    goes_on = goes_on && !is_done;
    if (goes_on) multiply(next, replicated_numbers(next, sides_, inverses_of(norms)), next);
  }
  return combined();
}

Array Gmres::combined() const {
  std::vector<Numbers> weights;
  for (const Column& column : columns_) weights.push_back(column.solution());
  Array result;
  for (std::size_t j = 0; j < corrections_.size(); ++j) {
    Numbers row;
    for (const Numbers& of_column : weights) row.push_back(of_column[j]);
    Array part = corrections_[j] * replicated_numbers(corrections_[j], sides_, row);
    if (result.valid()) {
      result += part;
    } else {
      result = part;
    }
  }
  return result;
}

}  // namespace partita::linear
