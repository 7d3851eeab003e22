// Evenly spaced numbers of any dtype to and from dense runs of the type that is computed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>

#include "base/half.hpp"

namespace partita::kernels {

/// Whether numbers of `dtype` can be computed with in `computed` (f32, f64, c64, c128 or i32): real in real,
/// complex in complex, integers only i32 in itself.
bool computes_in(Dtype dtype, Dtype computed);

/// to[i] = the number of `dtype` at element offset + i * step from `from`. T: float, double, complex of
/// these, or std::int32_t; in float those of i8, too. Thread-safe.
template <class T>
void load_run(const std::byte* from, Dtype dtype, std::int64_t offset, std::int64_t step, std::int64_t count,
              T* to);

/// The same of those at elements table[i].
template <class T>
void load_table(const std::byte* from, Dtype dtype, const std::int64_t* table, std::int64_t count, T* to);

/// The other way of `load_run`; what does not fit is rounded to nearest even.
template <class T>
void store_run(const T* from, std::int64_t count, std::byte* to, Dtype dtype, std::int64_t offset,
               std::int64_t step);

/// Converts `count` numbers; `from` and `to` need no alignment on the side of the small float and do not
/// overlap. Thread-safe.
template <class Small>
void widen(const std::byte* from, float* to, std::int64_t count, Small kind);
template <class Small>
void narrow(const float* from, std::byte* to, std::int64_t count, Small kind);

}  // namespace partita::kernels
