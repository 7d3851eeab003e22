// Searches in sorted elements of one rank, and counts of its elements in bins.
#include <partita/selection.hpp>

#include "arithmetic/dense_parts.hpp"
#include "array/overlap.hpp"
#include "device/stream_work.hpp"

namespace partita {
namespace {

using arithmetic::check_dense;

/// Of an operand that is not the source.
void check_operand(std::string_view operation, const Array& source, const Array& one) {
  check_dense(operation, one);
  arithmetic::check_together(operation, source, one);
}

void check_result(std::string_view operation, const Array& destination,
                  std::initializer_list<const Array*> operands) {
  arrays::check_written(operation, destination);
  for (const Array* const one : operands) {
    if (one != nullptr)
      check(!arrays::overlap(one->local(), destination.local()), "{}: the arrays overlap", operation);
  }
}

void check_order(std::string_view operation, const Array& source) {
  check<UnsupportedError>(kernels::is_sorted_here(source.dtype()), "{}: {} have no order", operation,
                          name(source.dtype()));
}

/// Values are compared in the dtype of the elements.
void check_searched(const Array& source, const Array& values) {
  const Dtype sorted = source.dtype(), dtype = values.dtype();
  const bool whole = dtype == Dtype::boolean || (is_integer(dtype) && dtype != Dtype::u64);
  check(sorted == dtype || (sorted == Dtype::f64 && kernels::is_sorted_here(dtype)) ||
            (sorted == Dtype::i64 && whole),
        "search_part: values of {} among elements of {}: expected the same dtype, or elements of f64 or, for "
        "integers, i64; convert one of them with astype",
        name(dtype), name(sorted));
}

/// Of `edges` null: elements are the numbers of their bins.
void check_edges(const Array& source, const Array* edges, const Array& counts) {
  const Dtype dtype = source.dtype();
  if (edges == nullptr)
    return check(is_integer(dtype), "count_part: without edges elements are integers, not {}", name(dtype));
  check_operand("count_part", source, *edges);
  check(edges->dtype() == Dtype::f64 || (edges->dtype() == Dtype::i64 && dtype != Dtype::u64 &&
                                         (is_integer(dtype) || dtype == Dtype::boolean)),
        "count_part: edges of {} for elements of {}", name(edges->dtype()), name(dtype));
  check(edges->local_size() == counts.local_size() + 1, "count_part: {} edges for {} bins",
        edges->local_size(), counts.local_size());
}

void count_elements(const Array& source, const Array* edges, const Array* weights, Array& counts,
                    const std::optional<Stream>& stream) {
  constexpr std::string_view operation = "count_part";
  check_dense(operation, source);
  check_operand(operation, source, counts);
  check_edges(source, edges, counts);
  if (weights != nullptr) {
    check_operand(operation, source, *weights);
    check(weights->dtype() == Dtype::f64 && weights->local_size() == source.local_size(),
          "count_part: {} weights of {} for {} elements: expected as many, of f64", weights->local_size(),
          name(weights->dtype()), source.local_size());
  }
  const Dtype dtype = weights == nullptr ? Dtype::i64 : Dtype::f64;
  check(counts.dtype() == dtype, "count_part: counts are {}, not {}", name(dtype), name(counts.dtype()));
  check_result(operation, counts, {&source, edges, weights});
  check_order(operation, source);
  arithmetic::check_stream(operation, source, stream);
  ContextState& context = *source.context_state();
  context.require_usable_here(operation);
  if (counts.local_size() == 0) return;
  CountPass pass;
  pass.dtype = source.dtype();
  pass.count = source.local_size();
  pass.from = source.local().data;
  pass.bins = counts.local_size();
  if (edges != nullptr) {
    pass.edge_dtype = edges->dtype();
    pass.edges = edges->local().data;
  }
  if (weights != nullptr) pass.weights = static_cast<const double*>(weights->local().data);
  pass.to = counts.local().data;
  if (source.local().space == MemorySpace::host) return kernels::count(pass);
  devices::DeviceSorting& device = arithmetic::sorting_device(operation, context);
  devices::put_into_stream(context, operation, stream, [&](Stream used, bool) { device.count(pass, used); });
}

}  // namespace

void search_part(const Array& source, const Array& values, Array& destination, bool after,
                 std::optional<Stream> stream) {
  constexpr std::string_view operation = "search_part";
  check_dense(operation, source);
  check_operand(operation, source, values);
  check_operand(operation, source, destination);
  check_searched(source, values);
  const bool whether = destination.dtype() == Dtype::boolean;
  check(whether || destination.dtype() == Dtype::i64,
        "search_part: places are i64, and what is contained boolean, not {}", name(destination.dtype()));
  check(values.local_size() == destination.local_size(), "search_part: {} values, but {} places",
        values.local_size(), destination.local_size());
  check_result(operation, destination, {&source, &values});
  check_order(operation, source);
  arithmetic::check_stream(operation, source, stream);
  ContextState& context = *source.context_state();
  context.require_usable_here(operation);
  if (destination.local_size() == 0) return;
  SearchPass pass;
  pass.dtype = source.dtype();
  pass.value_dtype = values.dtype();
  pass.sorted_count = source.local_size();
  pass.sorted = source.local().data;
  pass.count = values.local_size();
  pass.values = values.local().data;
  pass.after = after;
  if (whether) pass.contained = static_cast<bool*>(destination.local().data);
  if (!whether) pass.places = static_cast<std::int64_t*>(destination.local().data);
  if (source.local().space == MemorySpace::host) return kernels::search(pass);
  devices::DeviceSorting& device = arithmetic::sorting_device(operation, context);
  devices::put_into_stream(context, operation, stream, [&](Stream used, bool) { device.search(pass, used); });
}

void count_part(const Array& source, const Array& edges, Array& counts, std::optional<Stream> stream) {
  count_elements(source, edges.valid() ? &edges : nullptr, nullptr, counts, stream);
}

void count_part(const Array& source, const Array& edges, const Array& weights, Array& counts,
                std::optional<Stream> stream) {
  count_elements(source, edges.valid() ? &edges : nullptr, &weights, counts, stream);
}

}  // namespace partita
