#include "io/hdf5_attributes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace partita::io {
namespace {

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

Hdf5Handle scalar_space(const std::string& path) {
  return {H5Screate(H5S_SCALAR), H5Sclose, path, "cannot describe an attribute"};
}

/// A UTF-8 text of any length, what h5py makes of a str.
Hdf5Handle text_type(const std::string& path) {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path, "cannot describe a text");
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// `data`: null where the space has no element.
void write_one(hid_t object, const std::string& name, hid_t stored, hid_t memory, hid_t space,
               const void* data, const std::string& path) {
  const std::string what = fmt::format("cannot write the attribute \"{}\"", name);
  if (H5Aexists(object, name.c_str()) > 0) check_hdf5(H5Adelete(object, name.c_str()), path, what.c_str());
  const Hdf5Handle attribute(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose, path, what.c_str());
  if (data != nullptr) check_hdf5(H5Awrite(attribute, memory, data), path, what.c_str());
}

/// In memory, and as files have them.
template <class Number>
std::pair<hid_t, hid_t> number_types() {
  if constexpr (std::is_same_v<Number, std::int64_t>) return {H5T_NATIVE_INT64, H5T_STD_I64LE};
  if constexpr (std::is_same_v<Number, std::uint64_t>) return {H5T_NATIVE_UINT64, H5T_STD_U64LE};
  return {H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE};
}

template <class Number>
void write_numbers(hid_t object, const std::string& name, const Number* numbers, hid_t space,
                   const std::string& path) {
  const auto [memory, stored] = number_types<Number>();
  write_one(object, name, stored, memory, space, numbers, path);
}

void write_attribute(hid_t object, const std::string& name, const Hdf5Attribute& value,
                     const std::string& path) {
  const auto write = [&](const auto& given) {
    using Value = std::decay_t<decltype(given)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      const Hdf5Handle type = text_type(path);
      const char* const text = given.c_str();
      write_one(object, name, type, type, scalar_space(path), &text, path);
    } else if constexpr (std::is_same_v<Value, Hdf5Unread>) {
      invariant(false, "the attribute \"{}\" was not read and cannot be written", name);
    } else if constexpr (is_vector<Value>) {
      const hsize_t count = given.size();
      const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, path,
                             "cannot describe an attribute");
      write_numbers(object, name, given.empty() ? nullptr : given.data(), space, path);
    } else {
      write_numbers(object, name, &given, scalar_space(path), path);
    }
  };
  std::visit(write, static_cast<const Hdf5Value&>(value));
}

/// Of fixed length, padded as the file says, or of any length.
std::string read_text(hid_t attribute, hid_t type, const std::string& path) {
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    const Hdf5Handle memory(H5Tcopy(type), H5Tclose, path, "cannot read a text");
    check_hdf5(H5Aread(attribute, memory, static_cast<void*>(&text)), path, "cannot read an attribute");
    std::string result = text != nullptr ? text : "";
    H5free_memory(text);
    return result;
  }
  std::string text(H5Tget_size(type), '\0');
  check_hdf5(H5Aread(attribute, type, text.data()), path, "cannot read an attribute");
  const bool has_spaces = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  text.resize(has_spaces ? text.find_last_not_of(' ') + 1 : std::min(text.find('\0'), text.size()));
  return text;
}

template <class Number>
Hdf5Attribute read_numbers(hid_t attribute, hid_t space, const std::string& path) {
  std::vector<Number> numbers(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  if (!numbers.empty())
    check_hdf5(H5Aread(attribute, number_types<Number>().first, numbers.data()), path,
               "cannot read an attribute");
  if (H5Sget_simple_extent_ndims(space) == 0) return numbers.front();
  return numbers;
}

/// HDF5 would read these as the largest that std::int64_t has.
bool has_larger_numbers(hid_t attribute, hid_t type, hid_t space, const std::string& path) {
  if (H5Tget_sign(type) != H5T_SGN_NONE || H5Tget_size(type) < sizeof(std::int64_t)) return false;
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  if (numbers.empty()) return false;
  check_hdf5(H5Aread(attribute, H5T_NATIVE_UINT64, numbers.data()), path, "cannot read an attribute");
  return *std::max_element(numbers.begin(), numbers.end()) > std::numeric_limits<std::int64_t>::max();
}

/// What elements of this type are called; for those that are not read.
std::string elements_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return "texts";
    case H5T_INTEGER:
      return fmt::format("integers of {} bytes", H5Tget_size(type));
    case H5T_FLOAT:
      return fmt::format("floating-point numbers of {} bytes", H5Tget_size(type));
    case H5T_ENUM:
      return "an enumeration";
    case H5T_COMPOUND:
      return "a compound";
    case H5T_REFERENCE:
      return "references";
    case H5T_VLEN:
      return "sequences of any length";
    case H5T_ARRAY:
      return "arrays";
    default:
      return "bytes without a type of numbers";
  }
}

Hdf5Attribute read_attribute(hid_t attribute, const std::string& path) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose, path, "cannot read the type of an attribute");
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose, path, "cannot read the shape of an attribute");
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return Hdf5Unread{"empty (H5S_NULL)"};
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions > 1)
    return Hdf5Unread{fmt::format("an array of {} dimensions of {}", dimensions, elements_of(type))};
  const bool fits = H5Tget_size(type) <= sizeof(std::int64_t);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (dimensions == 0) return read_text(attribute, type, path);
      break;
    case H5T_INTEGER:
      if (fits && has_larger_numbers(attribute, type, space, path))
        return read_numbers<std::uint64_t>(attribute, space, path);
      if (fits) return read_numbers<std::int64_t>(attribute, space, path);
      break;
    case H5T_FLOAT:
      if (fits) return read_numbers<double>(attribute, space, path);
      break;
    default:
      break;
  }
  return Hdf5Unread{(dimensions == 1 ? "a vector of " : "") + elements_of(type)};
}

herr_t keep_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

void write_attributes(hid_t object, const Hdf5Attributes& attributes, const std::string& path) {
  for (const auto& [name, value] : attributes) write_attribute(object, name, value, path);
}

Hdf5Attributes read_attributes(hid_t object, const std::string& path) {
  std::vector<std::string> names;
  hsize_t from = 0;
  check_hdf5(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &from, keep_name, &names), path,
             "cannot list the attributes");
  Hdf5Attributes result;
  for (const std::string& name : names) {
    const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, path,
                               "cannot open an attribute");
    result[name] = read_attribute(attribute, path);
  }
  return result;
}

// Ranks compare these texts: different attributes have different ones, also a number and its text, or a whole
// number and a floating one.
std::string to_string(const Hdf5Attributes& attributes) {
  std::string text;
  const auto show = [](const auto& given) {
    using Value = std::decay_t<decltype(given)>;
    if constexpr (std::is_same_v<Value, std::string>) return fmt::format("{:?}", given);
    if constexpr (std::is_same_v<Value, double>) return fmt::format("{:#}", given);
    if constexpr (std::is_same_v<Value, std::vector<double>>) return fmt::format("f64{::#}", given);
    if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) return fmt::format("u64{}", given);
    if constexpr (std::is_same_v<Value, Hdf5Unread>) {
      return fmt::format("({})", given.what);
    } else {
      return fmt::format("{}", given);
    }
  };
  for (const auto& [name, value] : attributes)
    text += fmt::format("{:?}={} ", name, std::visit(show, static_cast<const Hdf5Value&>(value)));
  return text;
}

}  // namespace partita::io
