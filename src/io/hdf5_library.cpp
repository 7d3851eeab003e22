#include "io/hdf5_library.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/check.hpp"

namespace partita::io {
namespace {

// The innermost entry of the error stack says what went wrong.
herr_t keep_description(unsigned /*depth*/, const H5E_error2_t* entry, void* reason) {
  if (entry->desc != nullptr) *static_cast<std::string*>(reason) = entry->desc;
  return 0;
}

[[noreturn]] void refuse(const std::string& path, const char* what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, &reason);
  std::string innermost;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_description, &innermost);
  throw FileError(fmt::format("{}: {}: {}", path, what, innermost.empty() ? reason : innermost));
}

/// A little-endian float of one or two bytes: sign at the highest bit, then exponent, then mantissa.
hid_t small_float_type(std::size_t bytes, std::size_t exponent_bits, std::size_t bias) {
  const std::size_t sign = 8 * bytes - 1, mantissa_bits = sign - exponent_bits;
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, sign, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type, bytes);
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

/// What the parts of a complex number are called.
struct PartNames {
  std::string real, imaginary;
};

hid_t complex_type(hid_t part, const PartNames& names) {
  const std::size_t part_bytes = H5Tget_size(part);
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * part_bytes);
  H5Tinsert(type, names.real.c_str(), 0, part);
  H5Tinsert(type, names.imaginary.c_str(), part_bytes, part);
  return type;
}

hid_t make_type(Dtype dtype) {
  // From i8 to u64.
  const std::array integers{H5T_STD_I8LE,  H5T_STD_U8LE,  H5T_STD_I16LE, H5T_STD_U16LE,
                            H5T_STD_I32LE, H5T_STD_U32LE, H5T_STD_I64LE, H5T_STD_U64LE};
  if (is_integer(dtype))
    return H5Tcopy(integers[static_cast<std::size_t>(dtype) - static_cast<std::size_t>(Dtype::i8)]);
  if (dtype == Dtype::boolean) return boolean_type();
  if (dtype == Dtype::f16) return small_float_type(2, 5, 15);
  if (dtype == Dtype::bf16) return small_float_type(2, 8, 127);
  if (dtype == Dtype::f8e4m3) return small_float_type(1, 4, 7);
  if (dtype == Dtype::f8e5m2) return small_float_type(1, 5, 15);
  const hid_t real = size_of(dtype) == (is_complex(dtype) ? 8 : 4) ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  return is_complex(dtype) ? complex_type(real, {"r", "i"}) : H5Tcopy(real);  // as h5py does
}

Dtype integer_of(std::size_t bytes, bool with_sign, const std::string& path) {
  for (Dtype dtype = Dtype::i8; dtype <= Dtype::u64;
       dtype = static_cast<Dtype>(static_cast<int>(dtype) + 1)) {
    if (static_cast<std::size_t>(size_of(dtype)) == bytes && is_signed(dtype) == with_sign) return dtype;
  }
  throw FileError(fmt::format("{}: integers of {} bytes are not supported", path, bytes));
}

Dtype float_of(hid_t type, const std::string& path) {
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 4) return Dtype::f32;
  if (bytes == 8) return Dtype::f64;
  if (bytes == 2) return H5Tget_ebias(type) == 127 ? Dtype::bf16 : Dtype::f16;
  for (const Dtype dtype : {Dtype::f8e4m3, Dtype::f8e5m2}) {
    const Hdf5Handle known = hdf5_type(dtype, path);
    if (H5Tequal(type, known) > 0) return dtype;
  }
  throw FileError(fmt::format("{}: floating-point numbers of {} bytes{} are not supported", path, bytes,
                              bytes == 1 ? " other than E4M3 and E5M2" : ""));
}

std::string member_name(hid_t type, unsigned member) {
  char* const text = H5Tget_member_name(type, member);
  std::string name = text != nullptr ? text : "";
  H5free_memory(text);
  return name;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string members_of(hid_t type) {
  std::string names;
  for (int i = 0; i < H5Tget_nmembers(type); ++i) {
    names += (i > 0 ? ", " : "") + member_name(type, static_cast<unsigned>(i));
  }
  return names;
}

/// The names as the file writes them; empty where it is not a complex number: only the names tell which part
/// is which, so {x, y} is none.
std::optional<PartNames> complex_names(hid_t type) {
  constexpr std::array<std::pair<const char*, const char*>, 3> known{
      {{"r", "i"}, {"re", "im"}, {"real", "imag"}}};
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  const std::array<std::string, 2> names{member_name(type, 0), member_name(type, 1)};
  for (const auto& [real, imaginary] : known) {
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
      if (lower_case(names[first]) == real && lower_case(names[1 - first]) == imaginary)
        return PartNames{names[first], names[1 - first]};
    }
  }
  return std::nullopt;
}

Dtype complex_of(hid_t type, const std::string& path) {
  check<FileError>(
      complex_names(type).has_value(),
      "{}: a compound of {{{}}} is not a complex number; {{r, i}}, {{re, im}} and {{real, imag}} are", path,
      members_of(type));
  const Hdf5Handle first(H5Tget_member_type(type, 0), H5Tclose, path, "cannot read the element type");
  const Hdf5Handle second(H5Tget_member_type(type, 1), H5Tclose, path, "cannot read the element type");
  const std::size_t bytes = H5Tget_size(first);
  check<FileError>(
      H5Tget_class(first) == H5T_FLOAT && H5Tequal(first, second) > 0 && (bytes == 4 || bytes == 8),
      "{}: a compound of {{{}}} that are not two equal floats of 4 or 8 bytes", path, members_of(type));
  return bytes == 4 ? Dtype::c64 : Dtype::c128;
}

/// The values of other enumerations are names, not truths.
Dtype boolean_of(hid_t type, const std::string& path) {
  signed char value = 0;
  const bool is_boolean = H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
                          H5Tenum_valueof(type, "FALSE", &value) >= 0 &&
                          H5Tenum_valueof(type, "TRUE", &value) >= 0;
  check<FileError>(is_boolean, "{}: an enumeration of {{{}}} is not a boolean: {{FALSE, TRUE}} is", path,
                   members_of(type));
  return Dtype::boolean;
}

}  // namespace

namespace {
std::mutex hdf5_mutex;
}

Hdf5Lock::Hdf5Lock() : lock_(hdf5_mutex) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread: a library never prints
}

Hdf5Lock::~Hdf5Lock() {
  H5Eclear2(H5E_DEFAULT);
}

Hdf5Handle::Hdf5Handle(hid_t id, Close close, const std::string& path, const char* what)
    : id_(id), close_(close) {
  if (id < 0) refuse(path, what);
}

void check_hdf5(herr_t status, const std::string& path, const char* what) {
  if (status < 0) refuse(path, what);
}

Hdf5Handle hdf5_type(Dtype dtype, const std::string& path) {
  return {make_type(dtype), H5Tclose, path, "cannot make the element type"};
}

Hdf5Handle hdf5_memory_type(hid_t file_type, Dtype dtype, const std::string& path) {
  if (!is_complex(dtype)) return hdf5_type(dtype, path);
  const hid_t part = dtype == Dtype::c64 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  return {complex_type(part, *complex_names(file_type)), H5Tclose, path, "cannot make the element type"};
}

Dtype dtype_of_hdf5(hid_t type, const std::string& path) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_of(H5Tget_size(type), H5Tget_sign(type) == H5T_SGN_2, path);
    case H5T_FLOAT:
      return float_of(type, path);
    case H5T_ENUM:
      return boolean_of(type, path);
    case H5T_COMPOUND:
      return complex_of(type, path);
    default:
      throw FileError(fmt::format("{}: the elements are neither numbers nor booleans", path));
  }
}

}  // namespace partita::io
