// The .npy format: NumPy Enhancement Proposal 1 (Kern 2007), versions 1.0 to 3.0.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <partita/io.hpp>
#include <string>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "base/check.hpp"
#include "io/array_file.hpp"
#include "io/file.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using namespace io;

struct NpyHeader {
  FileHeader array;
  bool swapped = false;          ///< the bytes of numbers: big-endian
  std::int64_t data_offset = 0;  ///< of the first element
};

constexpr std::string_view magic{"\x93NUMPY", 6};
static_assert(std::endian::native == std::endian::little, "files are written as little-endian");

/// NumPy's letters are those that our own names begin with; what it lacks is stored as its extension
/// ml_dtypes does: bfloat16 as V2, float8_e4m3fn as V1, float8_e5m2 as f1.
std::string code_of(Dtype dtype) {
  const char letter = dtype == Dtype::bf16 || dtype == Dtype::f8e4m3 ? 'V' : name(dtype).front();
  return fmt::format("{}{}{}", size_of(dtype) == 1 ? '|' : '<', letter, size_of(dtype));
}

/// What the writer of elements that Partita does not have can do about it.
std::string_view cure_for(std::string_view descr) {
  const std::size_t at = descr.find_first_not_of("<>|=");
  switch (at == std::string_view::npos ? ' ' : descr[at]) {
    case 'O':
      return "Python objects: save the numbers in them, by array.astype('float64') say";
    case 'U':
    case 'S':
    case 'a':
      return "strings: save numbers instead, such as codes";
    case 'M':
    case 'm':
      return "times: save array.view('int64')";
    case 'V':
      return "bytes without a type: save array.view() with a numeric type";
    default:
      return "save array.astype('float64') or another type that Partita supports";
  }
}

/// A letter and the number of bytes, behind the byte order or alone: "<f8", "=f8" (of the machine), "|f8",
/// "f8".
/// "?" is NumPy's other name of "b1".
Dtype dtype_from(const std::string& descr, const std::string& path) {
  std::string_view code = descr;
  if (code.find_first_of("<>=|") == 0) code.remove_prefix(1);
  if (code == "?") code = "b1";
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    if (code == std::string_view(code_of(dtype)).substr(1)) return dtype;
  }
  throw FileError(
      fmt::format("{}: elements of the NumPy type {} are not supported ({})", path, descr, cure_for(descr)));
}

/// What follows `'key':` in the dictionary, without leading blanks. Python writes texts in either quotes.
std::string_view value_of(std::string_view dictionary, std::string_view key, const std::string& path) {
  const std::string quoted = fmt::format("'{}'", key);
  std::size_t at = std::min(dictionary.find(quoted), dictionary.find(fmt::format("\"{}\"", key)));
  check<FileError>(at != std::string_view::npos, "{}: the .npy header has no {}", path, quoted);
  at = dictionary.find_first_not_of(" \t\r\n:", at + quoted.size());
  check<FileError>(at != std::string_view::npos, "{}: the .npy header ends after {}", path, quoted);
  return dictionary.substr(at);
}

std::string_view between(std::string_view text, char open, char close, const std::string& path) {
  const std::size_t end = text.find(close, 1);
  check<FileError>(text.front() == open && end != std::string_view::npos,
                   "{}: the .npy header is malformed near \"{}\"", path, text.substr(0, 20));
  return text.substr(1, end - 1);
}

/// The list "[('x', '<f8'), ...]" of fields that a structured type is written as; shortened where it is long.
std::string fields_text(std::string_view text) {
  constexpr std::size_t longest = 100;
  int depth = 0;
  std::size_t length = 0;
  while (length < text.size() && length < longest) {
    const char c = text[length++];
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return std::string(text.substr(0, length));
  }
  return fmt::format("{} ...", text.substr(0, length));
}

Dtype parse_dtype(std::string_view text, const std::string& path, bool& swapped) {
  check<FileError>(!text.starts_with('['),
                   "{}: elements of the structured NumPy type {} are not supported (save each field "
                   "in a separate file)",
                   path, fields_text(text));
  if (text.starts_with("u'") || text.starts_with("b'")) text.remove_prefix(1);  // as Python 2 may write it
  const char quote = text.starts_with('"') ? '"' : '\'';
  const std::string_view descr = between(text, quote, quote, path);
  swapped = descr.starts_with('>');
  return dtype_from(std::string(descr), path);
}

Shape parse_shape(std::string_view text, const std::string& path) {
  Shape shape;
  while (true) {
    const std::size_t start = text.find_first_not_of(" ,L");  // Python 2: 3L
    if (start == std::string_view::npos) return shape;
    text = text.substr(start);
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    check<FileError>(error != std::errc::result_out_of_range, "{}: an extent in the .npy header is too large",
                     path);
    check<FileError>(error == std::errc{} && text.front() != '-',
                     "{}: the shape in the .npy header is malformed near \"{}\"", path, text.substr(0, 20));
    check<FileError>(shape.size() < max_dimensions, "{}: more than {} dimensions", path, max_dimensions);
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

NpyHeader parse_dictionary(std::string_view dictionary, const std::string& path) {
  NpyHeader whole;
  FileHeader& header = whole.array;
  header.dtype = parse_dtype(value_of(dictionary, "descr", path), path, whole.swapped);
  const std::string_view columns = value_of(dictionary, "fortran_order", path);
  check<FileError>(columns.starts_with("True") || columns.starts_with("False"),
                   "{}: 'fortran_order' in the .npy header is neither True nor False but \"{}\"", path,
                   columns.substr(0, 20));
  header.order = columns.starts_with("True") ? Order::column_major : Order::row_major;
  header.shape = parse_shape(between(value_of(dictionary, "shape", path), '(', ')', path), path);
  return whole;
}

/// The other byte order; of complex numbers, of both parts.
void swap_bytes(Dtype dtype, std::int64_t elements, void* data) {
  const std::int64_t item = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  auto* const bytes = static_cast<char*>(data);
  for (std::int64_t at = 0; at < elements * size_of(dtype); at += item) {
    std::reverse(bytes + at, bytes + at + item);
  }
}

/// Throws FileError: not a .npy file, truncated, a dtype that Partita does not have.
NpyHeader read_npy_header(const File& file, const std::string& path) {
  std::array<unsigned char, 12> start{};
  const std::int64_t size = file.size();
  check<FileError>(size >= 10, "{}: not a .npy file: it has only {} bytes", path, size);
  file.read(0, start.data(), std::min<std::int64_t>(size, 12));
  check<FileError>(std::memcmp(start.data(), magic.data(), magic.size()) == 0,
                   "{}: not a .npy file: it does not begin with NumPy's magic string", path);
  const int version = start[6];
  check<FileError>(version >= 1 && version <= 3, "{}: unknown .npy version {}", path, version);
  const std::int64_t prefix = version == 1 ? 10 : 12;
  std::int64_t length = start[8] + 256 * start[9];
  if (version > 1) length += (std::int64_t{start[10]} << 16) + (std::int64_t{start[11]} << 24);
  check<FileError>(prefix + length <= size, "{}: the file is truncated inside its header", path);
  std::string dictionary(static_cast<std::size_t>(length), ' ');
  file.read(prefix, dictionary.data(), length);
  NpyHeader header = parse_dictionary(dictionary, path);
  header.data_offset = prefix + length;
  const std::int64_t expected = bytes_of(header.array, path);
  check<FileError>(size - header.data_offset >= expected,
                   "{}: the file is truncated: {} elements of {} need {} bytes, the file has {}", path,
                   to_string(header.array.shape), name(header.array.dtype), expected,
                   size - header.data_offset);
  return header;
}

/// The bytes before the first element; their number is a multiple of 64.
std::string npy_header_text(const FileHeader& header) {
  std::string shape;
  for (const std::int64_t extent : header.shape) shape += fmt::format("{}, ", extent);
  if (header.shape.size() > 1) shape.resize(shape.size() - 2);
  if (header.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", code_of(header.dtype),
                  header.order == Order::column_major ? "True" : "False", shape);
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string result(magic);
  result += {'\x01', '\x00', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return result + text;
}

}  // namespace

FileHeader inspect_npy(const std::string& path) {
  return read_npy_header(File::open_to_read(path), path).array;
}

Array read_npy(const Context& context, const std::string& path, const Distribution& distribution,
               const ArrayOptions& options, SourcePlace where) {
  const runtime::PublicCall call("read_npy");
  std::optional<NpyHeader> header;
  const auto inspect = [&] { return (header = read_npy_header(File::open_to_read(path), path))->array; };
  const auto read_part = [&](std::int64_t first, std::int64_t elements, void* data) {
    const std::int64_t item = size_of(header->array.dtype);
    File::open_to_read(path).read(header->data_offset + first * item, data, elements * item);
    if (header->swapped) swap_bytes(header->array.dtype, elements, data);
  };
  return read_as_slab(context, path, distribution, options, {"read_npy", inspect, read_part}, where);
}

void write_npy(const std::string& path, const Array& array, Order order) {
  const runtime::PublicCall call("write_npy");
  ContextState& context = *array.context_state();
  context.require_usable("write_npy");
  runtime::collectively(context, "write_npy", [&]() -> std::vector<Fact> {
    arrays::check_has_values("write_npy", array);
    return {{"path", path},
            {"array", array.operand().to_string()},
            {"order", order == Order::row_major ? "row-major" : "column-major"}};
  });
  const auto begin = [&](const OutputFile& output) -> std::vector<std::int64_t> {
    output.require_positions();
    const std::string header = npy_header_text({array.shape(), array.dtype(), order});
    const auto offset = static_cast<std::int64_t>(header.size());
    File file = File::open_to_write(output.written());
    file.reserve(offset + volume(array.shape()) * size_of(array.dtype()));
    file.write(0, header.data(), offset);
    file.close();
    return {offset};
  };
  write_whole(context, path, {"write_npy", begin, {{[&] { return as_file_slab(array, order); }}}});
}

}  // namespace partita
