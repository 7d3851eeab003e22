#include <algorithm>
#include <array>
#include <filesystem>
#include <partita/redistribute.hpp>

#include "array/array_state.hpp"
#include "base/check.hpp"
#include "base/round.hpp"
#include "io/array_file.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_dataset.hpp"
#include "runtime/agree.hpp"

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
void check_text(std::string_view what, const std::string& text) {
  check(text.find('\0') == std::string::npos, "write_hdf5: {} has a zero byte", what);
}

void check_names(const std::string& dataset, const Hdf5Attributes& attributes) {
  check(!dataset.empty(), "write_hdf5: the dataset has no name");
  check_text("the name of the dataset", dataset);
  for (const auto& [name, value] : attributes) {
    check(!name.empty(), "write_hdf5: an attribute has no name");
    check_text("the name of an attribute", name);
    if (const auto* text = std::get_if<std::string>(&value))
      check_text(fmt::format("the attribute \"{}\"", name), *text);
  }
}

void check_options(const Shape& shape, const Hdf5Options& options) {
  const bool filtered = options.compression != 0 || options.shuffle;
  check(options.compression >= 0 && options.compression <= 9, "write_hdf5: compression is {}: 0 to 9",
        options.compression);
  check(!filtered || !options.chunks.empty(), "write_hdf5: compression and shuffle are of chunks; say which");
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

/// The link goes, and with it the dataset; what it took is free for the next one.
void remove_old(hid_t file, const std::string& name, const std::string& path) {
  if (!has_link(file, name)) return;
  {
    const Hdf5Handle old(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose, path,
                         "cannot open the old dataset");
    check<FileError>(H5Iget_type(old) == H5I_DATASET, "{}: \"{}\" is a group; name a dataset in it", path,
                     name);
  }
  check_hdf5(H5Ldelete(file, name.c_str(), H5P_DEFAULT), path, "cannot remove the old dataset");
}

/// What the name stands behind is a group, or nothing yet.
void check_groups(hid_t file, const std::string& name, const std::string& path) {
  for (std::size_t end = name.find('/', 1); end != std::string::npos; end = name.find('/', end + 1)) {
    const std::string before = name.substr(0, end);
    if (!has_link(file, before)) return;
    const Hdf5Handle object(H5Oopen(file, before.c_str(), H5P_DEFAULT), H5Oclose, path,
                            "cannot open a group");
    check<FileError>(H5Iget_type(object) == H5I_GROUP,
                     "{}: \"{}\" is a dataset, and \"{}\" cannot stand in it", path, before, name);
  }
}

/// Where its first element lies, if it is contiguous: from there on the ranks write with plain system calls,
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
                   "{}: HDF5 does not say where the dataset lies", path);
  return offset == HADDR_UNDEF ? 0 : static_cast<std::int64_t>(offset);
}

/// The old file as it was, or an empty one. Byte by byte, so that nothing in it changes.
void begin_file(const std::string& path, const std::string& temporary, bool truncate) {
  std::error_code none;
  const bool is_new = !std::filesystem::exists(path, none) || std::filesystem::file_size(path, none) == 0;
  if (!is_new && !truncate) {
    const Hdf5Handle old = open_hdf5(path, H5F_ACC_RDONLY);
    check_room(temporary, static_cast<std::int64_t>(std::filesystem::file_size(path)));
    std::filesystem::copy_file(path, temporary, std::filesystem::copy_options::overwrite_existing);
    return;
  }
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

std::vector<Fact> facts_of(const std::string& dataset, const Hdf5Options& options) {
  return {{"dataset", dataset},
          {"truncate", options.truncate ? "yes" : "no"},
          {"chunks", to_string(options.chunks)},
          {"compression", fmt::format("{}{}", options.compression, options.shuffle ? ", shuffled" : "")},
          {"attributes", io::to_string(options.attributes)}};
}

}  // namespace

void write_hdf5(const std::string& path, const std::string& dataset, const Array& array,
                const Hdf5Options& options) {
  ContextState& context = *array.context_state();
  context.require_usable("write_hdf5");
  runtime::collectively(context, "write_hdf5", [&] {
    arrays::check_has_values("write_hdf5", array);
    check_names(dataset, options.attributes);
    check_options(array.shape(), options);
    return facts_of(dataset, options);
  });
  const bool contiguous = options.chunks.empty();
  Array slab = as_file_slab(array, Order::row_major);
  if (!contiguous) slab = as_chunk_slab(slab, options.chunks);
  FileWriter writer{"write_hdf5", {}};
  writer.begin = [&](const OutputFile& output) -> std::int64_t {
    check<FileError>(output.regular(), "{}: an HDF5 file is not written in one go; name a regular file",
                     path);
    const std::string& temporary = output.written();
    const std::int64_t bytes = volume(array.shape()) * size_of(array.dtype());
    const Hdf5Lock lock;
    begin_file(path, temporary, options.truncate);
    check_room(temporary, contiguous ? bytes : 0);
    std::int64_t first = 0;
    {
      const Hdf5Handle file = open_hdf5(temporary, H5F_ACC_RDWR);
      check_groups(file, dataset, path);
      remove_old(file, dataset, path);
      first = create_dataset(file, path, dataset, array, options);
    }
    File file = File::open_to_write(temporary);
    if (contiguous) file.reserve(first + bytes);
    file.close();
    return first;
  };
  if (!contiguous) {
    const Region region = slab.layout().region(context.rank());
    writer.write_in_turn = [&path, &dataset, region](const std::string& written, const View& part) {
      try {
        write_region(written, dataset, region, part);
      } catch (const FileError& error) {
        throw FileError(fmt::format("{}: could not be written: {}", path, error.what()));
      }
    };
  }
  write_whole(path, slab, writer);
}

}  // namespace partita
