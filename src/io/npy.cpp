#include <optional>

#include "array/array_state.hpp"
#include "array/elements.hpp"
#include "io/npy_header.hpp"
#include "io/read_slab.hpp"
#include "io/whole_file.hpp"

namespace partita {

FileHeader inspect_npy(const std::string& path) {
  return read_npy_header(File::open_to_read(path), path).array;
}

Array read_npy(const Context& context, const std::string& path, const Distribution& distribution,
               const ArrayOptions& options, SourcePlace where) {
  std::optional<NpyHeader> header;
  const auto inspect = [&] { return (header = read_npy_header(File::open_to_read(path), path))->array; };
  const auto read_part = [&](std::int64_t first, std::int64_t elements, void* data) {
    const std::int64_t item = size_of(header->array.dtype);
    File::open_to_read(path).read(header->data_offset + first * item, data, elements * item);
  };
  return read_as_slab(context, path, distribution, options, {"read_npy", inspect, read_part}, where);
}

void write_npy(const std::string& path, const Array& array, Order order) {
  array.context()->require_usable("write_npy");
  const Array slab = as_file_slab(array, order, "write_npy");
  write_whole(path, slab, "write_npy", [&](const OutputFile& output) {
    output.require_positions();
    const std::string header = npy_header_text({array.shape(), array.dtype(), order});
    const auto offset = static_cast<std::int64_t>(header.size());
    File file = File::open_to_write(output.written());
    file.reserve(offset + volume(array.shape()) * size_of(array.dtype()));
    file.write(0, header.data(), offset);
    file.close();
    return offset;
  });
}

}  // namespace partita
