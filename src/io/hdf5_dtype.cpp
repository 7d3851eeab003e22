#include "io/hdf5_dtype.hpp"

#include <cstring>

#include "base/check.hpp"

namespace partita {
namespace {

hid_t copy_of(hid_t type) {
  return H5Tcopy(type);
}

/// A little-endian float of two bytes: sign at bit 15, then exponent, then mantissa.
hid_t half_type(std::size_t exponent_bits, std::size_t bias) {
  const std::size_t mantissa_bits = 15 - exponent_bits;
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, bias);
  return type;
}

hid_t boolean_type() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  signed char value = 0;
  H5Tenum_insert(type, "FALSE", &value);
  value = 1;
  H5Tenum_insert(type, "TRUE", &value);
  return type;
}

hid_t complex_type(hid_t part, std::size_t part_bytes) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * part_bytes);
  H5Tinsert(type, "r", 0, part);
  H5Tinsert(type, "i", part_bytes, part);
  return type;
}

hid_t make_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean:
      return boolean_type();
    case Dtype::i8:
      return copy_of(H5T_STD_I8LE);
    case Dtype::u8:
      return copy_of(H5T_STD_U8LE);
    case Dtype::i16:
      return copy_of(H5T_STD_I16LE);
    case Dtype::u16:
      return copy_of(H5T_STD_U16LE);
    case Dtype::i32:
      return copy_of(H5T_STD_I32LE);
    case Dtype::u32:
      return copy_of(H5T_STD_U32LE);
    case Dtype::i64:
      return copy_of(H5T_STD_I64LE);
    case Dtype::u64:
      return copy_of(H5T_STD_U64LE);
    case Dtype::f16:
      return half_type(5, 15);
    case Dtype::bf16:
      return half_type(8, 127);
    case Dtype::f32:
      return copy_of(H5T_IEEE_F32LE);
    case Dtype::f64:
      return copy_of(H5T_IEEE_F64LE);
    case Dtype::c64:
      return complex_type(H5T_IEEE_F32LE, 4);
    case Dtype::c128:
      return complex_type(H5T_IEEE_F64LE, 8);
  }
  return -1;
}

Dtype integer_of(std::size_t bytes, bool with_sign, const std::string& path) {
  switch (bytes) {
    case 1:
      return with_sign ? Dtype::i8 : Dtype::u8;
    case 2:
      return with_sign ? Dtype::i16 : Dtype::u16;
    case 4:
      return with_sign ? Dtype::i32 : Dtype::u32;
    case 8:
      return with_sign ? Dtype::i64 : Dtype::u64;
    default:
      throw FileError(fmt::format("{}: integers of {} bytes are not supported", path, bytes));
  }
}

Dtype float_of(hid_t type, const std::string& path) {
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 4) return Dtype::f32;
  if (bytes == 8) return Dtype::f64;
  check<FileError>(bytes == 2, "{}: floating-point numbers of {} bytes are not supported", path, bytes);
  return H5Tget_ebias(type) == 127 ? Dtype::bf16 : Dtype::f16;
}

Dtype complex_of(hid_t type, const std::string& path) {
  const bool pair = H5Tget_nmembers(type) == 2 && H5Tget_member_class(type, 0) == H5T_FLOAT &&
                    H5Tget_member_class(type, 1) == H5T_FLOAT;
  const std::size_t bytes = H5Tget_size(type);
  check<FileError>(pair && (bytes == 8 || bytes == 16), "{}: a compound that is not a complex number", path);
  return bytes == 8 ? Dtype::c64 : Dtype::c128;
}

}  // namespace

Hdf5Handle hdf5_type(Dtype dtype, const std::string& path) {
  return {make_type(dtype), H5Tclose, path, "cannot make the element type"};
}

Dtype dtype_of_hdf5(hid_t type, const std::string& path) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_of(H5Tget_size(type), H5Tget_sign(type) == H5T_SGN_2, path);
    case H5T_FLOAT:
      return float_of(type, path);
    case H5T_ENUM:
      check<FileError>(H5Tget_size(type) == 1, "{}: an enumeration that is not a boolean", path);
      return Dtype::boolean;
    case H5T_COMPOUND:
      return complex_of(type, path);
    default:
      throw FileError(fmt::format("{}: the elements are neither numbers nor booleans", path));
  }
}

}  // namespace partita
