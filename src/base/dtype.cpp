#include <array>
#include <partita/dtype.hpp>

#include "base/check.hpp"

namespace partita {
namespace {

struct Row {
  Dtype dtype;
  std::int64_t size;
  std::string_view name;
  std::string_view numpy;
};

constexpr std::array<Row, dtype_count> rows{{
    {Dtype::boolean, 1, "bool", "bool_"},
    {Dtype::i8, 1, "i8", "int8"},
    {Dtype::u8, 1, "u8", "uint8"},
    {Dtype::i16, 2, "i16", "int16"},
    {Dtype::u16, 2, "u16", "uint16"},
    {Dtype::i32, 4, "i32", "int32"},
    {Dtype::u32, 4, "u32", "uint32"},
    {Dtype::i64, 8, "i64", "int64"},
    {Dtype::u64, 8, "u64", "uint64"},
    {Dtype::f16, 2, "f16", "float16"},
    {Dtype::bf16, 2, "bf16", "bfloat16"},
    {Dtype::f32, 4, "f32", "float32"},
    {Dtype::f64, 8, "f64", "float64"},
    {Dtype::c64, 8, "c64", "complex64"},
    {Dtype::c128, 16, "c128", "complex128"},
    {Dtype::f8e4m3, 1, "f8e4m3", "float8_e4m3fn"},
    {Dtype::f8e5m2, 1, "f8e5m2", "float8_e5m2"},
}};

const Row& row(Dtype dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  check(index < rows.size(), "unknown dtype number {}", index);
  return rows[index];
}

}  // namespace

std::int64_t size_of(Dtype dtype) {
  return row(dtype).size;
}

std::string_view name(Dtype dtype) {
  return row(dtype).name;
}

bool is_complex(Dtype dtype) {
  return dtype == Dtype::c64 || dtype == Dtype::c128;
}

bool is_integer(Dtype dtype) {
  return dtype >= Dtype::i8 && dtype <= Dtype::u64;
}

bool is_signed(Dtype dtype) {
  return name(dtype).front() == 'i';
}

bool is_float8(Dtype dtype) {
  return dtype == Dtype::f8e4m3 || dtype == Dtype::f8e5m2;
}

Dtype parse_dtype(std::string_view text) {
  std::string known;
  for (const Row& candidate : rows) {
    if (text == candidate.name || text == candidate.numpy) return candidate.dtype;
    known += known.empty() ? "" : ", ";
    known += candidate.name;
  }
  throw ArgumentError(fmt::format("unknown dtype \"{}\"; known: {}", text, known));
}

}  // namespace partita
