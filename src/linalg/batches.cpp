#include "linalg/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "context/context_state.hpp"
#include "linalg/facts.hpp"
#include "runtime/checks/agree.hpp"

namespace partita::linear {

bool is_batch(const Array& a) {
  return a.valid() && a.shape().size() > 2;
}

void check_batch(std::string_view operation, const Array& a, bool square) {
  const Shape& shape = a.shape();
  const std::int64_t m = shape[shape.size() - 2], n = shape[shape.size() - 1];
  Operand one = Operand::of(Layout(Replicated(), {m, n}, a.layout().ranks()), a.dtype());
  check_matrix(operation, "A", one);
  check(!square || m == n, "{}: the matrices must be square, but the shape is {}", operation,
        to_string(shape));
}

namespace {

/// Up to so many rows one rank computes a matrix faster than several, which exchange panels.
constexpr std::int64_t rows_of_one_rank = 256;
/// Up to so many rows a matrix in device memory is computed on the host.
constexpr std::int64_t rows_off_device = 512;

class BatchRun {
 public:
  BatchRun(const BatchJob& job, const BatchPlace& place, SourcePlace where)
      : job_(job),
        place_(place),
        where_(where),
        context_(job.inputs[0].context()),
        leading_(job.inputs[0].shape().size() - 2),
        axis_(chosen_axis()) {
    for (int d = 0; d < leading_; ++d) batch_.push_back(job.inputs[0].shape()[d]);
  }

  std::vector<Array> run() {
    std::vector<Array> made = by_one_rank() ? run_locally() : run_together();
    std::vector<Array> results;
    for (Array& array : made) results.push_back(result_of(array));
    return results;
  }

 private:
  const Array& first() const { return job_.inputs[0]; }

  /// The leading dimension along which the matrices are distributed: A's, or the longest.
  int chosen_axis() const {
    const auto* const slab = first().layout().distribution().as<Slab>();
    if (slab != nullptr && slab->axis < leading_ && first().layout().members().empty()) return slab->axis;
    int longest = 0;
    for (int d = 1; d < leading_; ++d) {
      if (first().shape()[d] > first().shape()[longest]) longest = d;
    }
    return longest;
  }

  /// Pure, the same on every rank.
  bool by_one_rank() const {
    const Shape& shape = first().shape();
    const std::int64_t rows = std::max(shape[leading_], shape[leading_ + 1]);
    if (first().operand().space == MemorySpace::device && rows > rows_off_device) return false;
    return shape[axis_] >= context_.size() || rows <= rows_of_one_rank;
  }

  Shape with_batch(const Shape& extents) const {
    Shape shape = batch_;
    for (const std::int64_t extent : extents) shape.push_back(extent);
    return shape;
  }

  /// The last two of so many axes exchanged, so that matrices of a row-major array are column-major.
  static std::vector<int> exchanged_axes(int dimensions) {
    std::vector<int> axes(static_cast<std::size_t>(dimensions));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    return axes;
  }
  bool is_each(const Array& input) const { return input.shape().size() > 2; }

  // --- each matrix by one rank

  struct Part {
    char* data = nullptr;
    std::int64_t step = 0;  // bytes between adjacent matrices; 0: the same for all
    std::int64_t count = 0;
    void* at(std::int64_t i) const { return data + i * step; }
  };

  Part part_of(const Array& array, bool is_same) const {
    const View& local = array.local();
    std::int64_t count = 1, elements = 1;
    for (int d = 0; d < local.extents.size(); ++d)
      (d < leading_ && !is_same ? count : elements) *= local.extents[d];
    const std::int64_t bytes = elements * size_of(local.dtype);
    return {static_cast<char*>(local.data), is_same ? 0 : bytes, is_same ? 0 : count};
  }

  Array local_input(const Array& input) const {
    const bool is_vector = input.shape().size() == 1;
    const RedistributeOptions memory{
        .axes = is_vector ? std::vector<int>{} : exchanged_axes(input.shape().size()),
        .residency = Residency::ordinary,
        .space = MemorySpace::host};
    const Distribution how = is_each(input) ? Distribution(Slab(axis_)) : Distribution(Replicated());
    return redistribute(input, how, memory, where_);
  }

  Array local_output(const BatchJob::Output& output) const {
    Shape extents = output.extents;
    if (extents.size() == 2) std::swap(extents[0], extents[1]);
    return empty(context_, with_batch(extents), Slab(axis_), output.dtype,
                 {.residency = Residency::ordinary, .space = MemorySpace::host}, where_);
  }

  std::vector<Array> run_locally() {
    std::vector<Array> arrays;
    std::vector<Part> parts;
    for (const Array& input : job_.inputs) {
      arrays.push_back(local_input(input));
      parts.push_back(part_of(arrays.back(), !is_each(input)));
    }
    for (const BatchJob::Output& output : job_.outputs) {
      arrays.push_back(local_output(output));
      parts.push_back(part_of(arrays.back(), false));
    }
    runtime::collectively(*context_.state(), job_.operation, [&] { compute(arrays[0], parts); });
    std::vector<Array> outputs;
    for (std::size_t i = 0; i < job_.outputs.size(); ++i) {
      const Array& array = arrays[job_.inputs.size() + i];
      const bool is_matrix = job_.outputs[i].extents.size() == 2;
      outputs.push_back(is_matrix ? array.permuted(exchanged_axes(array.shape().size())) : array);
    }
    return outputs;
  }

  void compute(const Array& batch, const std::vector<Part>& parts) const {
    const std::size_t inputs = job_.inputs.size();
    std::vector<void*> addresses(parts.size());
    for (std::int64_t i = 0; i < parts[0].count; ++i) {
      for (std::size_t p = 0; p < parts.size(); ++p) addresses[p] = parts[p].at(i);
      try {
        job_.local(BatchJob::Addresses(addresses).first(inputs),
                   BatchJob::Addresses(addresses).subspan(inputs));
      } catch (const SingularError& error) {
        throw SingularError(fmt::format("{} (matrix {} of the batch)", error.what(), number_of(batch, i)),
                            error.index());
      }
    }
  }

  /// The indices of the i-th matrix of this rank, as text.
  std::string number_of(const Array& batch, std::int64_t i) const {
    const Region held = batch.layout().region(context_.rank());
    std::string text;
    for (int d = leading_ - 1; d >= 0; --d) {
      const std::int64_t extent = batch.local().extents[d], at = i % extent;
      i /= extent;
      const std::int64_t index = held.sets[static_cast<std::size_t>(d)].front() + at;
      text = fmt::format("{}{}{}", index, text.empty() ? "" : ", ", text);
    }
    return leading_ > 1 ? "(" + text + ")" : text;
  }

  // --- one matrix after the other by all ranks

  /// The matrix, vector or number `i` of a batch whose first dimension after the leading ones is distributed.
  Array slice(const Array& whole, std::int64_t i) const {
    View view = whole.local();
    Shape extents, shape;
    Strides strides;
    std::int64_t offset = 0;
    for (int d = leading_ - 1; d >= 0; --d) {
      offset += i % batch_[d] * view.strides[d];
      i /= batch_[d];
    }
    for (int d = leading_; d < whole.shape().size(); ++d) {
      shape.push_back(whole.shape()[d]);
      extents.push_back(view.extents[d]);
      strides.push_back(view.strides[d]);
    }
    view.extents = extents;
    view.strides = strides;
    if (volume(extents) > 0) view.data = static_cast<char*>(view.data) + offset * size_of(view.dtype);
    const Distribution how = shape.empty() ? Distribution(Replicated()) : Distribution(Slab(0));
    Operand operand = Operand::of(Layout(how, shape, context_.size()), whole.dtype(), Order::row_major,
                                  Residency::ordinary);
    operand.space = view.space;
    operand.dense = false;
    return wrap(context_, view, operand, whole.state());
  }

  Array whole_batch(const Shape& extents, Dtype dtype) const {
    const Distribution how = extents.empty() ? Distribution(Replicated()) : Distribution(Slab(leading_));
    return empty(context_, with_batch(extents), how, dtype,
                 {.residency = Residency::ordinary, .space = first().local().space}, where_);
  }

  std::vector<Array> run_together() {
    std::vector<Array> inputs, outputs;
    for (const Array& input : job_.inputs) {
      const RedistributeOptions memory{.residency = Residency::ordinary, .space = first().local().space};
      inputs.push_back(is_each(input) ? redistribute(input, Slab(leading_), memory, where_) : input);
    }
    for (const BatchJob::Output& output : job_.outputs)
      outputs.push_back(whole_batch(output.extents, output.dtype));
    for (std::int64_t i = 0; i < volume(batch_); ++i) {
      std::vector<Array> one;
      for (const Array& input : inputs) one.push_back(is_each(input) ? slice(input, i) : input);
      const std::vector<Array> found = job_.together(one);
      for (std::size_t p = 0; p < outputs.size(); ++p) {
        Array to = slice(outputs[p], i);
        redistribute_into(found[p], to);
      }
    }
    return outputs;
  }

  /// In the layout and the memory of the caller.
  Array result_of(const Array& made) const {
    const RedistributeOptions memory{.order = place_.order,
                                     .residency = place_.residency,
                                     .space = place_.space.value_or(first().local().space)};
    if (place_.distribution) return redistribute(made, *place_.distribution, memory, where_);
    for (auto input = job_.inputs.rbegin(); input != job_.inputs.rend(); ++input) {
      if (input->shape() == made.shape() && !input->layout().partial())
        return redistribute(made, input->layout(), memory, where_);
    }
    return redistribute(made, Slab(axis_), memory, where_);
  }

  const BatchJob& job_;
  const BatchPlace& place_;
  SourcePlace where_;
  Context context_;
  int leading_;
  int axis_;
  Shape batch_;
};

}  // namespace

std::vector<Array> run_batch(const BatchJob& job, const BatchPlace& place, SourcePlace where) {
  return BatchRun(job, place, where).run();
}

}  // namespace partita::linear
