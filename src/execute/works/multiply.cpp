// to[I, J] = alpha a[I, K] b[K, J] + beta to[I, J] on sets of indices: as few calls of BLAS as the positions
// of the sets allow, each on memory in place; what BLAS cannot read (small floats, integers, neither
// stride 1, conjugated without transposition, short runs) is copied to tiles that stay in cache. Integers
// are multiplied as floats, which hold the sums of a tile, and summed up as integers.
#include <algorithm>
#include <complex>
#include <type_traits>

#include "base/check.hpp"
#include "base/half.hpp"
#include "base/round.hpp"
#include "execute/works/bound_work.hpp"
#include "execute/works/product_shape.hpp"
#include "execute/works/scalar_as.hpp"
#include "kernels/host/gemm.hpp"
#include "plan/work.hpp"

namespace partita::execution {
namespace {

constexpr std::int64_t tile_extent = 512;
static_assert(tile_extent * 128 * 128 <= std::int64_t{1} << 24, "sums of products of i8 are exact in f32");

/// T: in which BLAS multiplies. R: of the result.
template <class T, class R = T>
class BoundMultiply final : public BoundWork {
 public:
  BoundMultiply(const Multiply& work, const WorkBinding& binding)
      : work_(work), shape_(work, binding, rules()), workspace_(binding.workspace) {
    split_for_tiles();
    reserve_tiles();
  }

  void run(const AddressOf& address, const Parameters& parameters) override {
    if (shape_.empty()) return;
    alpha_ = work_.scaled ? scalar_as<R>(parameters.alpha) : R(1);
    beta_ = scalar_as<R>(planning::beta_of(work_.beta, parameters));
    const bool product = shape_.k_size > 0 && alpha_ != R(0);
    char* const to = shape_.to.base(address);
    const char* const a = product ? shape_.a.base(address) : nullptr;
    const char* const b = product ? shape_.b.base(address) : nullptr;
    for (const ProductShape::Batch& batch : shape_.batches) {
      auto* const result = reinterpret_cast<R*>(to) + batch[2];
      if (product) {
        multiply(item(shape_.a, a, batch[0]), item(shape_.b, b, batch[1]), result);
      } else {
        scale_all(result);
      }
    }
  }

 private:
  static constexpr bool of_integers = !std::is_same_v<T, R>;
  // What is converted is copied anyway, so that longer runs are worth joining.
  static ProductRules rules() { return {.short_run_of_others = tile_extent, .packs_result = of_integers}; }
  static const std::byte* item(const BoundPart& part, const char* base, std::int64_t offset) {
    return reinterpret_cast<const std::byte*>(base) + offset * size_of(part.dtype());
  }

  void split_for_tiles();
  void reserve_tiles();
  void scale_all(R* to) const;
  void multiply(const std::byte* a, const std::byte* b, R* to);
  void multiply_chunk(const kernels::Matrix<const T>& a, const kernels::Matrix<const T>& b, std::size_t i,
                      std::size_t j, R beta, R* to);
  kernels::Matrix<T> tile(const ProductRole& role, std::size_t i, std::size_t j) const;
  kernels::Matrix<const T> read(const ProductRole& role, Dtype dtype, bool conjugate, const std::byte* from,
                                std::size_t i, std::size_t j) const;

  const Multiply work_;
  ProductShape shape_;
  std::shared_ptr<Workspace> workspace_;
  R alpha_{};
  R beta_{};
};

template <class T, class R>
void BoundMultiply<T, R>::split_for_tiles() {
  const bool a = shape_.role_a.packed, b = shape_.role_b.packed, to = shape_.role_to.packed;
  if (a || to) shape_.m.split(tile_extent);
  if (b || to) shape_.n.split(tile_extent);
  if (a || b) shape_.k.split(tile_extent);
}

template <class T, class R>
void BoundMultiply<T, R>::reserve_tiles() {
  std::int64_t elements = 0;
  for (ProductRole* const role : {&shape_.role_a, &shape_.role_b, &shape_.role_to}) {
    if (!role->packed) continue;
    role->tile_offset = elements;
    elements += role->rows->largest_chunk() * role->columns->largest_chunk();
    elements = round_up(elements, 16);
  }
  workspace_->reserve(elements * static_cast<std::int64_t>(sizeof(T)));
}

template <class T, class R>
void BoundMultiply<T, R>::scale_all(R* to) const {
  const auto matrix = [&](const kernels::TileAxis& r, const kernels::TileAxis& c, std::int64_t row_offset,
                          std::int64_t offset) {
    return kernels::Matrix<R>{to + row_offset + offset, r.count, c.count, r.step, c.step};
  };
  for (std::size_t i = 0; i < shape_.m.chunks().size(); ++i) {
    for (std::size_t j = 0; j < shape_.n.chunks().size(); ++j) {
      kernels::TileAxis r = shape_.role_to.row(i);
      kernels::TileAxis c = shape_.role_to.column(j);
      if (r.table == nullptr && c.table == nullptr) {
        kernels::scale(beta_, matrix(r, c, r.offset, c.offset));
        continue;
      }
      for (std::int64_t p = 0; p < r.count; ++p) {
        for (std::int64_t q = 0; q < c.count; ++q)
          kernels::scale(beta_, kernels::Matrix<R>{to + r.at(p) + c.at(q), 1, 1, 1, 1});
      }
    }
  }
}

// Tiles have the layout of what they are copied from, so that copies run along its adjacent elements.
template <class T, class R>
kernels::Matrix<T> BoundMultiply<T, R>::tile(const ProductRole& role, std::size_t i, std::size_t j) const {
  T* const data = reinterpret_cast<T*>(workspace_->data()) + role.tile_offset;
  const kernels::TileAxis& r = role.row(i);
  const kernels::TileAxis& c = role.column(j);
  const bool by_columns = &role == &shape_.role_to ? shape_.to_by_columns : role.lies_by_columns(i, j);
  if (by_columns) return {data, r.count, c.count, 1, r.count};
  return {data, r.count, c.count, c.count, 1};
}

template <class T, class R>
kernels::Matrix<const T> BoundMultiply<T, R>::read(const ProductRole& role, Dtype dtype, bool conjugate,
                                                   const std::byte* from, std::size_t i,
                                                   std::size_t j) const {
  const kernels::TileAxis& r = role.row(i);
  const kernels::TileAxis& c = role.column(j);
  if (!role.packed) {
    return {reinterpret_cast<const T*>(from) + r.offset + c.offset, r.count, c.count, r.step, c.step};
  }
  const kernels::Matrix<T> copy = tile(role, i, j);
  kernels::pack(from, dtype, r, c, conjugate, copy);
  return {copy.data, copy.rows, copy.columns, copy.row_stride, copy.column_stride};
}

// The operand whose copy is reused is in the outer loop.
template <class T, class R>
void BoundMultiply<T, R>::multiply(const std::byte* a, const std::byte* b, R* to) {
  const auto read_a = [&](std::size_t i, std::size_t l) {
    return read(shape_.role_a, shape_.a.dtype(), work_.conjugate_a, a, i, l);
  };
  const auto read_b = [&](std::size_t l, std::size_t j) {
    return read(shape_.role_b, shape_.b.dtype(), work_.conjugate_b, b, l, j);
  };
  for (std::size_t l = 0; l < shape_.k.chunks().size(); ++l) {
    const R beta = l == 0 ? beta_ : R(1);
    if (shape_.role_a.packed && !shape_.role_b.packed) {
      for (std::size_t i = 0; i < shape_.m.chunks().size(); ++i) {
        const kernels::Matrix<const T> left = read_a(i, l);
        for (std::size_t j = 0; j < shape_.n.chunks().size(); ++j) {
          multiply_chunk(left, read_b(l, j), i, j, beta, to);
        }
      }
      continue;
    }
    for (std::size_t j = 0; j < shape_.n.chunks().size(); ++j) {
      const kernels::Matrix<const T> right = read_b(l, j);
      for (std::size_t i = 0; i < shape_.m.chunks().size(); ++i) {
        multiply_chunk(read_a(i, l), right, i, j, beta, to);
      }
    }
  }
}

template <class T, class R>
void BoundMultiply<T, R>::multiply_chunk(const kernels::Matrix<const T>& a, const kernels::Matrix<const T>& b,
                                         std::size_t i, std::size_t j, R beta, R* to) {
  const kernels::TileAxis& r = shape_.role_to.row(i);
  const kernels::TileAxis& c = shape_.role_to.column(j);
  const bool conjugate_a = work_.conjugate_a && !shape_.role_a.packed;
  const bool conjugate_b = work_.conjugate_b && !shape_.role_b.packed;
  const auto packed = [&](T alpha) {
    const kernels::Matrix<T> sum = tile(shape_.role_to, i, j);
    kernels::gemm(alpha, a, conjugate_a, b, conjugate_b, T(0), sum);
    return kernels::Matrix<const T>{sum.data, sum.rows, sum.columns, sum.row_stride, sum.column_stride};
  };
  if constexpr (of_integers) {
    kernels::unpack_integers(packed(T(1)), alpha_, beta, r, c, to);
  } else if (shape_.role_to.packed) {
    kernels::unpack(packed(alpha_), beta, r, c, to);
  } else {
    const kernels::Matrix<T> result{to + r.offset + c.offset, r.count, c.count, r.step, c.step};
    kernels::gemm(alpha_, a, conjugate_a, b, conjugate_b, beta, result);
  }
}

template <class T, class R = T>
std::unique_ptr<BoundWork> bind(const Multiply& work, const WorkBinding& binding) {
  return std::make_unique<BoundMultiply<T, R>>(work, binding);
}

}  // namespace

std::unique_ptr<BoundWork> bind_multiply(const Multiply& work, const WorkBinding& binding) {
  const Dtype result = planning::dtype_at(binding.plan, work.to.place);
  for (const Part* const part : {&work.a, &work.b}) {
    const Dtype dtype = planning::dtype_at(binding.plan, part->place);
    const bool widened = is_small_float(dtype) && result == Dtype::f32;
    const bool integers = dtype == Dtype::i8 && result == Dtype::i32;
    check<UnsupportedError>(
        (dtype == result && !is_integer(dtype)) || widened || integers,
        "cannot multiply {} into {} locally: supported are f32, f64, c64 and c128 into themselves, "
        "f16, bf16, f8e4m3 and f8e5m2 into f32, i8 into i32",
        name(dtype), name(result));
  }
  switch (result) {
    case Dtype::f32:
      return bind<float>(work, binding);
    case Dtype::i32:
      return bind<float, std::int32_t>(work, binding);
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

}  // namespace partita::execution
