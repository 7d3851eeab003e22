// to[I, J] = alpha a[I, K] b[K, J] + beta to[I, J] on sets of indices: as few calls of BLAS as the positions
// of the sets allow, each on memory where it lies; what BLAS cannot read (halves, neither stride 1,
// conjugated without transposition, short runs) goes through tiles that stay in cache.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "base/check.hpp"
#include "execute/axis_runs.hpp"
#include "execute/bound_work.hpp"
#include "execute/product_axis.hpp"
#include "execute/scalar_as.hpp"
#include "kernels/host/gemm.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

constexpr std::int64_t tile_extent = 512;
// A product over fewer indices keeps BLAS from its speed, so that a copy costs less.
constexpr std::int64_t short_run = 64;

bool is_half(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

/// One operand in a product of two dimensions: which chunks it takes, and whether through tiles.
struct Role {
  const ProductAxis* rows = nullptr;
  std::size_t rows_index = 0;  // this operand's in rows->chunks()[i].in
  const ProductAxis* columns = nullptr;
  std::size_t columns_index = 0;
  bool packed = false;
  std::int64_t tile_offset = 0;  // in the workspace, in elements

  const TileAxis& row(std::size_t i) const { return rows->chunks()[i].in[rows_index]; }
  const TileAxis& column(std::size_t j) const { return columns->chunks()[j].in[columns_index]; }

  bool lies_by_columns(std::size_t i, std::size_t j) const {
    return !rows->chunks().empty() && !columns->chunks().empty() && row(i).adjacent() &&
           !column(j).adjacent();
  }

  template <class Test>
  bool all_forms(Test&& test) const {
    for (std::size_t i = 0; i < rows->chunks().size(); ++i) {
      for (std::size_t j = 0; j < columns->chunks().size(); ++j) {
        const TileAxis& r = row(i);
        const TileAxis& c = column(j);
        if (r.table != nullptr || c.table != nullptr) return false;
        if (!test(blas_form(r.count, c.count, r.step, c.step))) return false;
      }
    }
    return true;
  }
};

template <class T>
class BoundMultiply final : public BoundWork {
 public:
  BoundMultiply(const Multiply& work, const WorkBinding& binding)
      : work_(work),
        a_(work.a, binding),
        b_(work.b, binding),
        to_(work.to, binding),
        m_(row_axis(a_), row_axis(to_), rows(to_), joins(a_, to_)),
        n_(column_axis(b_), column_axis(to_), columns(to_), joins(b_, to_)),
        k_(column_axis(a_), row_axis(b_), columns(a_), joins(a_, b_)),
        workspace_(binding.workspace) {
    invariant(rows(a_) == rows(to_) && columns(b_) == columns(to_) && columns(a_) == rows(b_),
              "a multiply of {}x{} by {}x{} into {}x{}", rows(a_), columns(a_), rows(b_), columns(b_),
              rows(to_), columns(to_));
    list_batches();
    choose_roles();
    reserve_tiles();
  }

  void run(const AddressOf& address, const Parameters& parameters) override {
    if (rows(to_) == 0 || columns(to_) == 0 || batches_.empty()) return;
    alpha_ = work_.scaled ? scalar_as<T>(parameters.alpha) : T(1);
    beta_ = work_.beta == Beta::zero ? T(0) : work_.beta == Beta::one ? T(1) : scalar_as<T>(parameters.beta);
    const bool product = columns(a_) > 0 && alpha_ != T(0);
    char* const to = to_.base(address);
    const char* const a = product ? a_.base(address) : nullptr;
    const char* const b = product ? b_.base(address) : nullptr;
    for (const Batch& batch : batches_) {
      auto* const result = reinterpret_cast<T*>(to) + batch[2];
      if (product) {
        multiply(item(a_, a, batch[0]), item(b_, b, batch[1]), result);
      } else {
        scale_all(result);
      }
    }
  }

 private:
  using Batch = std::array<std::int64_t, max_parts>;  // offsets in elements, by operand

  static std::int64_t rows(const BoundPart& part) { return part.extent(part.dimensions() - 2); }
  static std::int64_t columns(const BoundPart& part) { return part.extent(part.dimensions() - 1); }
  static PartAxis row_axis(const BoundPart& part) { return part.axis(part.dimensions() - 2); }
  static PartAxis column_axis(const BoundPart& part) { return part.axis(part.dimensions() - 1); }
  // Halves are copied anyway, so that longer runs are worth joining.
  static std::int64_t joins(const BoundPart& one, const BoundPart& other) {
    return is_half(one.dtype()) || is_half(other.dtype()) ? tile_extent : short_run;
  }
  static const std::byte* item(const BoundPart& part, const char* base, std::int64_t offset) {
    return reinterpret_cast<const std::byte*>(base) + offset * size_of(part.dtype());
  }

  void list_batches();
  void choose_roles();
  void reserve_tiles();
  void scale_all(T* to) const;
  void multiply(const std::byte* a, const std::byte* b, T* to);
  void multiply_chunk(const Matrix<const T>& a, const Matrix<const T>& b, std::size_t i, std::size_t j,
                      T beta, T* to);
  Matrix<T> tile(const Role& role, std::size_t i, std::size_t j) const;
  Matrix<const T> read(const Role& role, Dtype dtype, bool conjugate, const std::byte* from, std::size_t i,
                       std::size_t j) const;

  const Multiply work_;
  BoundPart a_, b_, to_;
  ProductAxis m_, n_, k_;
  std::shared_ptr<Workspace> workspace_;
  std::vector<Batch> batches_;
  Role role_a_, role_b_, role_to_;
  bool to_by_columns_ = false;
  T alpha_{};
  T beta_{};
};

// The leading dimensions of the result; an operand without them is the same for every one of them.
template <class T>
void BoundMultiply<T>::list_batches() {
  batches_.push_back({});
  const int dimensions = to_.dimensions();
  for (int d = 0; d < dimensions - 2; ++d) {
    const auto axis = [&](const BoundPart& part) {
      return part.dimensions() == dimensions ? part.axis(d) : PartAxis{};
    };
    const std::array<PartAxis, 3> parts{axis(a_), axis(b_), axis(to_)};
    std::vector<Batch> next;
    for (const Batch& batch : batches_) {
      for (const AxisRun& run : axis_runs(parts, to_.extent(d))) {
        for (std::int64_t i = 0; i < run.count; ++i) {
          Batch one = batch;
          for (std::size_t x = 0; x < 3; ++x) one[x] += run.offset[x] + i * run.step[x];
          next.push_back(one);
        }
      }
    }
    batches_ = std::move(next);
  }
}

template <class T>
void BoundMultiply<T>::choose_roles() {
  role_a_ = {&m_, 0, &k_, 0};
  role_b_ = {&k_, 1, &n_, 0};
  role_to_ = {&m_, 1, &n_, 1};
  const bool by_columns = role_to_.all_forms([](const BlasForm& form) { return form.by_columns; });
  const bool by_rows = role_to_.all_forms([](const BlasForm& form) { return form.by_rows; });
  role_to_.packed = !by_columns && !by_rows;
  to_by_columns_ = role_to_.packed ? role_to_.lies_by_columns(0, 0) : by_columns;
  const auto readable = [&](const Role& role, Dtype dtype, bool conjugated) {
    return !is_half(dtype) && role.all_forms([&](const BlasForm& form) {
      return form.any() && (!conjugated || blas_conjugates(form, to_by_columns_));
    });
  };
  const bool conjugates = !std::is_floating_point_v<T>;
  role_a_.packed = !readable(role_a_, a_.dtype(), conjugates && work_.conjugate_a);
  role_b_.packed = !readable(role_b_, b_.dtype(), conjugates && work_.conjugate_b);
  if (role_a_.packed || role_to_.packed) m_.split(tile_extent);
  if (role_b_.packed || role_to_.packed) n_.split(tile_extent);
  if (role_a_.packed || role_b_.packed) k_.split(tile_extent);
}

template <class T>
void BoundMultiply<T>::reserve_tiles() {
  std::int64_t elements = 0;
  for (Role* const role : {&role_a_, &role_b_, &role_to_}) {
    if (!role->packed) continue;
    role->tile_offset = elements;
    elements += role->rows->largest_chunk() * role->columns->largest_chunk();
    elements = (elements + 15) / 16 * 16;
  }
  workspace_->reserve(elements * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void BoundMultiply<T>::scale_all(T* to) const {
  const auto matrix = [&](const TileAxis& r, const TileAxis& c, std::int64_t row_offset,
                          std::int64_t offset) {
    return Matrix<T>{to + row_offset + offset, r.count, c.count, r.step, c.step};
  };
  for (std::size_t i = 0; i < m_.chunks().size(); ++i) {
    for (std::size_t j = 0; j < n_.chunks().size(); ++j) {
      TileAxis r = role_to_.row(i);
      TileAxis c = role_to_.column(j);
      if (r.table == nullptr && c.table == nullptr) {
        scale(beta_, matrix(r, c, r.offset, c.offset));
        continue;
      }
      for (std::int64_t p = 0; p < r.count; ++p) {
        for (std::int64_t q = 0; q < c.count; ++q)
          scale(beta_, Matrix<T>{to + r.at(p) + c.at(q), 1, 1, 1, 1});
      }
    }
  }
}

// Tiles lie as what they stand for does, so that copies run along its adjacent elements.
template <class T>
Matrix<T> BoundMultiply<T>::tile(const Role& role, std::size_t i, std::size_t j) const {
  T* const data = reinterpret_cast<T*>(workspace_->data()) + role.tile_offset;
  const TileAxis& r = role.row(i);
  const TileAxis& c = role.column(j);
  const bool by_columns = &role == &role_to_ ? to_by_columns_ : role.lies_by_columns(i, j);
  if (by_columns) return {data, r.count, c.count, 1, r.count};
  return {data, r.count, c.count, c.count, 1};
}

template <class T>
Matrix<const T> BoundMultiply<T>::read(const Role& role, Dtype dtype, bool conjugate, const std::byte* from,
                                       std::size_t i, std::size_t j) const {
  const TileAxis& r = role.row(i);
  const TileAxis& c = role.column(j);
  if (!role.packed) {
    return {reinterpret_cast<const T*>(from) + r.offset + c.offset, r.count, c.count, r.step, c.step};
  }
  const Matrix<T> copy = tile(role, i, j);
  pack(from, dtype, r, c, conjugate, copy);
  return {copy.data, copy.rows, copy.columns, copy.row_stride, copy.column_stride};
}

// The operand whose copy is used again goes outside.
template <class T>
void BoundMultiply<T>::multiply(const std::byte* a, const std::byte* b, T* to) {
  const auto read_a = [&](std::size_t i, std::size_t l) {
    return read(role_a_, a_.dtype(), work_.conjugate_a, a, i, l);
  };
  const auto read_b = [&](std::size_t l, std::size_t j) {
    return read(role_b_, b_.dtype(), work_.conjugate_b, b, l, j);
  };
  for (std::size_t l = 0; l < k_.chunks().size(); ++l) {
    const T beta = l == 0 ? beta_ : T(1);
    if (role_a_.packed && !role_b_.packed) {
      for (std::size_t i = 0; i < m_.chunks().size(); ++i) {
        const Matrix<const T> left = read_a(i, l);
        for (std::size_t j = 0; j < n_.chunks().size(); ++j) {
          multiply_chunk(left, read_b(l, j), i, j, beta, to);
        }
      }
      continue;
    }
    for (std::size_t j = 0; j < n_.chunks().size(); ++j) {
      const Matrix<const T> right = read_b(l, j);
      for (std::size_t i = 0; i < m_.chunks().size(); ++i) {
        multiply_chunk(read_a(i, l), right, i, j, beta, to);
      }
    }
  }
}

template <class T>
void BoundMultiply<T>::multiply_chunk(const Matrix<const T>& a, const Matrix<const T>& b, std::size_t i,
                                      std::size_t j, T beta, T* to) {
  const TileAxis& r = role_to_.row(i);
  const TileAxis& c = role_to_.column(j);
  const bool conjugate_a = work_.conjugate_a && !role_a_.packed;
  const bool conjugate_b = work_.conjugate_b && !role_b_.packed;
  if (!role_to_.packed) {
    const Matrix<T> result{to + r.offset + c.offset, r.count, c.count, r.step, c.step};
    return gemm(alpha_, a, conjugate_a, b, conjugate_b, beta, result);
  }
  const Matrix<T> sum = tile(role_to_, i, j);
  gemm(alpha_, a, conjugate_a, b, conjugate_b, T(0), sum);
  unpack(Matrix<const T>{sum.data, sum.rows, sum.columns, sum.row_stride, sum.column_stride}, beta, r, c, to);
}

template <class T>
std::unique_ptr<BoundWork> bind(const Multiply& work, const WorkBinding& binding) {
  return std::make_unique<BoundMultiply<T>>(work, binding);
}

}  // namespace

std::unique_ptr<BoundWork> bind_multiply(const Multiply& work, const WorkBinding& binding) {
  const Dtype result = dtype_at(binding.plan, work.to.place);
  for (const Part* const part : {&work.a, &work.b}) {
    const Dtype dtype = dtype_at(binding.plan, part->place);
    check<UnsupportedError>(dtype == result || (is_half(dtype) && result == Dtype::f32),
                            "no local multiply of {} into {}: only f32, f64, c64 and c128 into themselves, "
                            "f16 and bf16 into f32",
                            name(dtype), name(result));
  }
  switch (result) {
    case Dtype::f32:
      return bind<float>(work, binding);
    case Dtype::f64:
      return bind<double>(work, binding);
    case Dtype::c64:
      return bind<std::complex<float>>(work, binding);
    case Dtype::c128:
      return bind<std::complex<double>>(work, binding);
    default:
      throw UnsupportedError(fmt::format("no local multiply of {}", name(result)));
  }
}

}  // namespace partita
