// The demo's products: how alike are the slices of one half of the volume to those of the other? A row of
// each matrix is a slice, and D = A B' holds the scalar products of all pairs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <partita/io.hpp>
#include <partita/matmul.hpp>

#include "tools/command_line.hpp"
#include "tools/demo.hpp"

namespace partita::tools {
namespace {

constexpr double most_serial_flops = 4e9;  // of a larger product some rows are checked
constexpr double tolerance = 1e-12;        // of the product of the lengths of the two rows

struct Files {
  std::string left, right;
  Shape shape;  ///< of each: slices of a half x elements of a slice
};

// The volume cut along its second axis, seen as a matrix whose rows are slices: boxes of whole columns.
Distribution matrix_distribution(const Layout& volume, const Shape& matrix) {
  const std::int64_t depth = volume.dimensions() == 3 ? volume.shape()[2] : 1;
  std::vector<Box::Bounds> boxes;
  std::int64_t first = 0;
  for (int rank = 0; rank < volume.ranks(); ++rank) {
    const std::int64_t end = first + volume.local_shape(rank)[1] * depth;
    boxes.push_back({{0, first}, {matrix[0], end}});
    first = end;
  }
  return Box(boxes);
}

// Row i: slice `slice_of(i)`. Local: both parts hold the same elements of every slice.
template <class SliceOf>
Array rows_of(const Context& context, const Array& numbers, const Shape& matrix, SliceOf slice_of) {
  Array rows = empty(context, matrix, matrix_distribution(numbers.layout(), matrix), Dtype::f64);
  const std::int64_t width = rows.local_shape()[1];
  for (std::int64_t i = 0; i < matrix[0]; ++i)
    std::copy_n(numbers.data<double>() + slice_of(i) * width, width, rows.data<double>() + i * width);
  return rows;
}

// Slice i of the left half belongs to slice i of the right one, its place mirrored.
Files write_halves(const Context& context, const std::string& folder, const Volume& volume) {
  const std::int64_t slices = volume.shape[0], half = (slices + 1) / 2;
  Files files{folder + "/left.npy", folder + "/right.npy", {half, partita::volume(volume.shape) / slices}};
  rank_zero(context, [&] { std::filesystem::create_directories(folder); });
  const Array source = numbers_of(load(context, volume, Slab(1)));
  write_npy(files.left, rows_of(context, source, files.shape, [](std::int64_t i) { return i; }));
  write_npy(files.right,
            rows_of(context, source, files.shape, [=](std::int64_t i) { return slices - 1 - i; }));
  return files;
}

double dot(const double* a, const double* b, std::int64_t count) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// The product by one rank, row by row, with nothing of the library's. Empty on the others.
class Serial {
 public:
  Serial(const Context& context, const Files& files) : count_(files.shape[0]) {
    const std::int64_t length = files.shape[1];
    const Array a = gather(read_npy(context, files.left, Slab(0)));
    const Array b = gather(read_npy(context, files.right, Slab(0)));
    if (context.rank() != 0) return;
    const auto row = [&](const Array& x, std::int64_t i) { return x.data<double>() + i * length; };
    for (const auto& [array, lengths] : {std::pair(&a, &left_lengths_), std::pair(&b, &right_lengths_)}) {
      for (std::int64_t i = 0; i < count_; ++i)
        lengths->push_back(std::sqrt(dot(row(*array, i), row(*array, i), length)));
    }
    const double flops = 2.0 * static_cast<double>(count_) * static_cast<double>(count_ * length);
    step_ = std::max<std::int64_t>(1, std::llround(std::ceil(flops / most_serial_flops)));
    for (std::int64_t i = 0; i < count_; i += step_) {
      for (std::int64_t j = 0; j < count_; ++j) values_.push_back(dot(row(a, i), row(b, j), length));
    }
  }

  /// The largest difference, relative to what the two rows could give. On rank 0.
  double error_of(const double* d) const {
    double largest = 0;
    for (std::int64_t i = 0; i < count_; i += step_) {
      for (std::int64_t j = 0; j < count_; ++j) {
        const double difference = std::abs(d[i * count_ + j] - at(values_, i / step_ * count_ + j));
        const double scale = at(left_lengths_, i) * at(right_lengths_, j);
        // A NaN must not pass.
        if (!(difference <= largest * scale)) largest = scale > 0 ? difference / scale : difference;
      }
    }
    return largest;
  }

  /// How many slices of the left half are most like one of the right at most two from their mirror image.
  std::int64_t mirrored(const double* d) const {
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t best = 0;
      double likeness = -2;
      for (std::int64_t j = 0; j < count_; ++j) {
        const double scale = at(left_lengths_, i) * at(right_lengths_, j);
        const double cosine = scale > 0 ? d[i * count_ + j] / scale : 0;
        if (cosine > likeness) likeness = cosine, best = j;
      }
      if (std::abs(best - i) <= 2) ++found;
    }
    return found;
  }

 private:
  static double at(const std::vector<double>& values, std::int64_t i) {
    return values[static_cast<std::size_t>(i)];
  }

  std::int64_t count_;
  std::int64_t step_ = 1;
  std::vector<double> values_, left_lengths_, right_lengths_;
};

// A number that rank 0 knows, on every rank.
double from_rank_0(const Context& context, double value) {
  const Array everywhere = scatter(context, View::dense(&value, Dtype::f64, {1}), {1}, Replicated{});
  return *everywhere.data<double>();
}

// One product of the two files in one distribution, timed and compared. D has the cheapest distribution.
struct Product {
  Array d;
  std::string method;
  double first_seconds = 0, seconds = 0, error = 0;
};

Product multiply(const Context& context, const Files& files, const Distribution& distribution,
                 const Serial& serial) {
  const Array a = read_npy(context, files.left, distribution);
  const Array b = read_npy(context, files.right, distribution);
  MatmulOptions how;
  how.op_b = Op::transpose;
  Product product;
  const Layout layout = cheapest_result(a.operand(), b.operand(), context.topology(), how, context.machine());
  product.d = empty(context, layout, Dtype::f64);
  std::optional<Matmul> plan;
  product.first_seconds = seconds_of(context, [&] {
    plan.emplace(context, MatmulOperands{a.operand(), b.operand(), {}, product.d.operand()}, how);
    plan->reset(a, b, nullptr, product.d);
    plan->execute();
  });
  product.method = plan->plan().method;
  product.seconds = seconds_of(context, [&] { plan->execute(); });
  const Array whole = gather(product.d);
  product.error = from_rank_0(context, context.rank() == 0 ? serial.error_of(whole.data<double>()) : 0.0);
  return product;
}

void print(const Distribution& distribution, const Product& product, double flops) {
  fmt::print("{:<28} {:<28} {:>10} {:>10} {:>11} {:>8}  {}\n", distribution.to_string(), product.method,
             describe_seconds(product.first_seconds), describe_seconds(product.seconds),
             fmt::format("{:.1f} GF/s", flops / product.seconds / 1e9), fmt::format("{:.1g}", product.error),
             product.d.layout().distribution().to_string());
}

}  // namespace

void demonstrate_matmul(const Context& context, const std::string& folder, const Volume& volume) {
  const Files files = write_halves(context, folder, volume);
  const bool speaks = context.rank() == 0;
  if (speaks) {
    fmt::print("\ndemo: {} and {}: the slices of the two halves, {} f64 each; A B' on {} ranks\n\n",
               files.left, files.right, to_string(files.shape), context.size());
    fmt::print("{:<28} {:<28} {:>10} {:>10} {:>11} {:>8}  D\n", "A and B", "method", "first", "again", "rate",
               "error");
  }
  const Serial serial(context, files);
  const double flops =
      2.0 * static_cast<double>(files.shape[0]) * static_cast<double>(partita::volume(files.shape));
  const std::vector<Distribution> distributions = way(files.shape, context.size());
  constexpr std::size_t products = 3;  // blocks, rows, columns
  Product product;
  for (std::size_t i = 0; i < products; ++i) {
    product = multiply(context, files, distributions[i], serial);
    if (speaks) print(distributions[i], product, flops);
    if (!(product.error <= tolerance)) {
      throw std::runtime_error(fmt::format("demo: the product of {} and {} in {} differs from the serial one",
                                           files.left, files.right, distributions[i].to_string()));
    }
  }
  const Array whole = gather(product.d);
  if (!speaks) return;
  fmt::print("\ndemo: all {} products agree with a serial one\n", products);
  fmt::print("demo: {} of {} slices are most like one of the other half at most 2 from their mirror image\n",
             serial.mirrored(whole.data<double>()), files.shape[0]);
}

}  // namespace partita::tools
