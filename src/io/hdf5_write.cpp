#include <algorithm>
#include <array>
#include <filesystem>
#include <partita/redistribute.hpp>
#include <set>
#include <system_error>

#include "array/array_state.hpp"
#include "array/pairs.hpp"
#include "base/check.hpp"
#include "base/round.hpp"
#include "io/array_file.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_dataset.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using namespace io;

using Hdf5Extents = std::array<hsize_t, max_dimensions>;

Hdf5Extents extents_of(const Shape& shape) {
  Hdf5Extents extents{};
  std::copy(shape.begin(), shape.end(), extents.begin());
  return extents;
}

/// HDF5 does not survive a disk that fills while it works: a file that it cannot close crashes it when the
/// process exits. Throws FileError where the file system has no room for so many bytes more.
void check_room(const std::string& path, std::int64_t bytes) {
  constexpr std::int64_t metadata = std::int64_t{1} << 16;
  const File file = File::open_to_write(path);
  file.reserve(file.size() + bytes + metadata);
}

/// HDF5's names and texts end at the first zero byte, whatever comes behind it.
void check_text(std::string_view operation, std::string_view what, const std::string& text) {
  check(text.find('\0') == std::string::npos, "{}: {} has a zero byte", operation, what);
}

void check_name(std::string_view operation, std::string_view what, const std::string& name) {
  check(!name.empty(), "{}: {} has no name", operation, what);
  check_text(operation, fmt::format("the name of {}", what), name);
}

void check_attributes(std::string_view operation, const Hdf5Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    check_name(operation, "an attribute", name);
    if (const auto* text = std::get_if<std::string>(&value))
      check_text(operation, fmt::format("the attribute \"{}\"", name), *text);
    const auto* unread = std::get_if<Hdf5Unread>(&value);
    check(unread == nullptr, "{}: the attribute \"{}\" was not read ({}) and cannot be written; omit it",
          operation, name, unread != nullptr ? unread->what : "");
  }
}

void check_options(const Shape& shape, const Hdf5Options& options) {
  const bool filtered = options.compression != 0 || options.shuffle;
  check(options.compression >= 0 && options.compression <= 9, "write_hdf5: compression is {}: 0 to 9",
        options.compression);
  check(!filtered || !options.chunks.empty(), "write_hdf5: compression and shuffle need chunks: set them");
  if (options.chunks.empty()) return;
  check(options.chunks.size() == shape.size(), "write_hdf5: chunks of {} dimensions, but the array has {}",
        options.chunks.size(), shape.size());
  for (int i = 0; i < shape.size(); ++i) {
    check(options.chunks[i] >= 1 && options.chunks[i] <= std::max<std::int64_t>(shape[i], 1),
          "write_hdf5: chunks of {} do not fit an array of {}", to_string(options.chunks), to_string(shape));
  }
}

Hdf5Handle storage(const Hdf5Options& options, const std::string& path) {
  Hdf5Handle storage(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path, "cannot describe the dataset");
  H5Pset_fill_time(storage, H5D_FILL_TIME_NEVER);
  if (options.chunks.empty()) {
    H5Pset_layout(storage, H5D_CONTIGUOUS);
    H5Pset_alloc_time(storage, H5D_ALLOC_TIME_EARLY);
    return storage;
  }
  check_hdf5(H5Pset_chunk(storage, options.chunks.size(), extents_of(options.chunks).data()), path,
             "cannot describe the chunks");
  if (options.shuffle) check_hdf5(H5Pset_shuffle(storage), path, "cannot shuffle");
  if (options.compression > 0) {
    check_hdf5(H5Pset_deflate(storage, static_cast<unsigned>(options.compression)), path, "cannot compress");
  }
  return storage;
}

/// Throws FileError where a group has the name.
bool has_dataset(hid_t file, const std::string& name, const std::string& path) {
  if (!has_link(file, name)) return false;
  const Hdf5Handle old(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, path,
                       "cannot open the old dataset");
  check<FileError>(H5Iget_type(old) == H5I_DATASET, "{}: \"{}\" is a group; name a dataset in it", path,
                   name);
  return true;
}

/// Removes the link, and with it the dataset; its space is reused by the next one.
void remove_old(hid_t file, const std::string& name, const std::string& path) {
  if (!has_dataset(file, name, path)) return;
  check_hdf5(H5Ldelete(file, name.c_str(), H5P_DEFAULT), path, "cannot remove the old dataset");
}

/// What the name stands behind is a group, or nothing yet.
void check_groups(hid_t file, const std::string& name, const std::string& path) {
  for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
    const std::string before = name.substr(0, end);
    if (!has_link(file, before)) return;
    const Hdf5Handle object(H5Oopen(file, before.c_str(), H5P_DEFAULT), H5Oclose, path,
                            "cannot open a group");
    check<FileError>(H5Iget_type(object) == H5I_GROUP, "{}: \"{}\" is a dataset and cannot contain \"{}\"",
                     path, before, name);
  }
}

/// The offset of its first element, if it is contiguous: from there ranks write with plain system calls,
/// all at once, without a parallel HDF5.
std::int64_t create_dataset(hid_t file, const std::string& path, const std::string& name, const Array& array,
                            const Hdf5Options& options) {
  const Shape& shape = array.shape();
  const Hdf5Handle space(shape.empty() ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(shape.size(), extents_of(shape).data(), nullptr),
                         H5Sclose, path, "cannot describe the shape");
  const Hdf5Handle groups(H5Pcreate(H5P_LINK_CREATE), H5Pclose, path, "cannot create groups");
  H5Pset_create_intermediate_group(groups, 1);
  const Hdf5Handle type = hdf5_type(array.dtype(), path);
  const Hdf5Handle dataset(
      H5Dcreate2(file, name.c_str(), type, space, groups, storage(options, path), H5P_DEFAULT), H5Dclose,
      path, "cannot create the dataset");
  write_attributes(dataset, options.attributes, path);
  const haddr_t offset = H5Dget_offset(dataset);
  check<FileError>(offset != HADDR_UNDEF || !options.chunks.empty() || volume(shape) == 0,
                   "{}: HDF5 does not report the position of the dataset", path);
  return offset == HADDR_UNDEF ? 0 : static_cast<std::int64_t>(offset);
}

/// The old file as it was. Byte by byte, so that nothing in it changes.
void copy_old_file(const std::string& path, const std::string& temporary) {
  const Hdf5Handle old = open_hdf5(path, H5F_ACC_RDONLY);
  check_room(temporary, File::open_to_read(path).size());
  std::error_code error;
  std::filesystem::copy_file(path, temporary, std::filesystem::copy_options::overwrite_existing, error);
  check<FileError>(!error, "{}: cannot be copied: {}", path, error.message());
}

/// The old file, or an empty one.
void begin_file(const std::string& path, const std::string& temporary, bool truncate) {
  std::error_code none;
  const bool is_new =
      truncate || !std::filesystem::exists(path, none) || File::open_to_read(path).size() == 0;
  if (!is_new) return copy_old_file(path, temporary);
  const Hdf5Handle fresh(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                         path, "cannot create the HDF5 file");
}

/// Slabs that end where chunks end, so that no chunk is of two ranks.
Array as_chunk_slab(const Array& slab, const Extents& chunks) {
  if (slab.local_shape().empty() || volume(slab.shape()) == 0) return slab;
  const int axis = slab.layout().distribution().as<Slab>()->axis;
  const int ranks = slab.layout().ranks();
  Extents grid = Extents::filled(slab.shape().size(), 1);
  grid[axis] = ranks;
  Extents block = slab.shape();
  block[axis] = ceil_divide(ceil_divide(slab.shape()[axis], chunks[axis]), ranks) * chunks[axis];
  return redistribute(slab, BlockNonCyclic(ProcessGrid(grid), block));
}

void write_region(const std::string& path, const std::string& name, const Region& region, const View& part) {
  const Hdf5Lock lock;
  check_room(path, volume(part.extents) * size_of(part.dtype));
  {
    const Hdf5Handle file = open_hdf5(path, H5F_ACC_RDWR);
    const Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path,
                             "cannot open the dataset");
    const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, path, "cannot read the shape");
    Hdf5Extents first{};
    std::transform(region.sets.begin(), region.sets.end(), first.begin(),
                   [](const IndexSet& set) { return static_cast<hsize_t>(set.front()); });
    const Hdf5Extents count = extents_of(part.extents);
    check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr), path,
               "cannot select a part of the dataset");
    const Hdf5Handle memory(H5Screate_simple(part.extents.size(), count.data(), nullptr), H5Sclose, path,
                            "cannot write");
    check_hdf5(H5Dwrite(dataset, hdf5_type(part.dtype, path), memory, space, H5P_DEFAULT, part.data), path,
               "cannot write the dataset");
  }
  File::open_to_write(path).close();  // onto the disk
}

/// Of several, each fact by the name of its dataset.
std::vector<Fact> facts_of(const Hdf5Dataset& dataset, bool several) {
  const Hdf5Options& options = dataset.options;
  std::vector<Fact> facts{
      {"array", dataset.array.operand().to_string()},
      {"truncate", options.truncate ? "yes" : "no"},
      {"chunks", to_string(options.chunks)},
      {"compression", fmt::format("{}{}", options.compression, options.shuffle ? ", shuffled" : "")},
      {"attributes", io::to_string(options.attributes)}};
  for (Fact& fact : facts) {
    if (several) fact.name += fmt::format(" of \"{}\"", dataset.name);
  }
  return facts;
}

std::vector<Fact> facts_of(const std::vector<Hdf5Dataset>& datasets) {
  const bool several = datasets.size() > 1;
  std::string names = datasets.front().name;
  for (std::size_t i = 1; i < datasets.size(); ++i) names += ", " + datasets[i].name;
  std::vector<Fact> all{{"dataset", names}};
  for (const Hdf5Dataset& dataset : datasets) {
    for (Fact& fact : facts_of(dataset, several)) all.push_back(std::move(fact));
  }
  return all;
}

void check_dataset(const Hdf5Dataset& dataset, const ContextState& context) {
  check(dataset.array.valid(), "write_hdf5: \"{}\" is not an array", dataset.name);
  arrays::check_context("write_hdf5", context, "the first array", dataset.array, "another one");
  arrays::check_has_values("write_hdf5", dataset.array);
  check_name("write_hdf5", "the dataset", dataset.name);
  check_attributes("write_hdf5", dataset.options.attributes);
  check_options(dataset.array.shape(), dataset.options);
}

std::int64_t dataset_bytes(const Hdf5Dataset& dataset) {
  return volume(dataset.array.shape()) * size_of(dataset.array.dtype());
}

void check_regular(const OutputFile& output, const std::string& path) {
  check<FileError>(output.regular(), "{}: an HDF5 file needs random access; name a regular file", path);
}

/// The offset of the first element of each.
std::vector<std::int64_t> begin_datasets(const OutputFile& output, const std::string& path,
                                         const std::vector<Hdf5Dataset>& datasets) {
  check_regular(output, path);
  const std::string& temporary = output.written();
  std::int64_t bytes = 0;
  bool truncate = false;
  for (const Hdf5Dataset& dataset : datasets) {
    if (dataset.options.chunks.empty()) bytes += dataset_bytes(dataset);
    truncate = truncate || dataset.options.truncate;
  }
  const Hdf5Lock lock;
  begin_file(path, temporary, truncate);
  check_room(temporary, bytes);
  std::vector<std::int64_t> first;
  std::int64_t end = 0;
  {
    const Hdf5Handle file = open_hdf5(temporary, H5F_ACC_RDWR);
    for (const Hdf5Dataset& dataset : datasets) remove_old(file, dataset.name, path);
    for (const Hdf5Dataset& dataset : datasets) {
      check_groups(file, dataset.name, path);
      // What is there now is one of these: "a//b" and a link to "a/b" are other words for it.
      check(!has_dataset(file, dataset.name, path), "write_hdf5: \"{}\" names a dataset a second time",
            dataset.name);
      first.push_back(create_dataset(file, path, dataset.name, dataset.array, dataset.options));
      if (dataset.options.chunks.empty()) end = std::max(end, first.back() + dataset_bytes(dataset));
    }
  }
  File file = File::open_to_write(temporary);
  if (end > 0) file.reserve(end);
  file.close();
  return first;
}

void set_attributes(const OutputFile& output, const std::string& path, const std::string& object,
                    const Hdf5Attributes& attributes) {
  check_regular(output, path);
  const Hdf5Lock lock;
  copy_old_file(path, output.written());
  // A number takes at most 8 times what it takes as text.
  check_room(output.written(), 8 * static_cast<std::int64_t>(io::to_string(attributes).size()));
  {
    const Hdf5Handle file = open_hdf5(output.written(), H5F_ACC_RDWR);
    require_link(file, object, path);
    const Hdf5Handle opened(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose, path,
                            "cannot open the object");
    write_attributes(opened, attributes, path);
  }
  File::open_to_write(output.written()).close();  // onto the disk
}

FilePart part_of(const std::string& path, const Hdf5Dataset& dataset) {
  const Extents& chunks = dataset.options.chunks;
  if (chunks.empty()) return {[&dataset] { return as_file_slab(dataset.array, Order::row_major); }};
  FilePart part;
  part.slab = [&] { return as_chunk_slab(as_file_slab(dataset.array, Order::row_major), chunks); };
  part.write_in_turn = [&](const std::string& written, const Region& region, const View& own) {
    try {
      write_region(written, dataset.name, region, own);
    } catch (const FileError& error) {
      throw FileError(fmt::format("{}: could not be written: {}", path, error.what()));
    }
  };
  return part;
}

}  // namespace

void write_hdf5(const std::string& path, const std::vector<Hdf5Dataset>& datasets) {
  const runtime::PublicCall call("write_hdf5");
  check(!datasets.empty() && datasets.front().array.valid(), "write_hdf5: no array is given");
  ContextState& context = *datasets.front().array.context_state();
  context.require_usable("write_hdf5");
  FileWriter writer{"write_hdf5", {}, {}};
  runtime::collectively(context, writer.operation, [&] {
    std::set<std::string> names;
    for (const Hdf5Dataset& dataset : datasets) {
      check_dataset(dataset, context);
      check(names.insert(dataset.name).second, "write_hdf5: \"{}\" is named twice", dataset.name);
    }
    return facts_of(datasets);
  });
  writer.begin = [&](const OutputFile& output) { return begin_datasets(output, path, datasets); };
  for (const Hdf5Dataset& dataset : datasets) writer.parts.push_back(part_of(path, dataset));
  write_whole(context, path, writer);
}

void write_hdf5(const std::string& path, const std::string& dataset, const Array& array,
                const Hdf5Options& options) {
  const runtime::PublicCall call("write_hdf5");
  write_hdf5(path, {{dataset, array, options}});
}

void write_hdf5_attributes(const Context& context, const std::string& path, const std::string& object,
                           const Hdf5Attributes& attributes) {
  ContextState& state = *context.state();
  FileWriter writer{"write_hdf5_attributes", {}, {}};
  state.require_usable(writer.operation);
  runtime::collectively(state, writer.operation, [&]() -> std::vector<Fact> {
    check_name(writer.operation, "the object", object);
    check_attributes(writer.operation, attributes);
    return {{"object", object}, {"attributes", io::to_string(attributes)}};
  });
  writer.begin = [&](const OutputFile& output) {
    set_attributes(output, path, object, attributes);
    return std::vector<std::int64_t>();
  };
  write_whole(state, path, writer);
}

}  // namespace partita
