#include "tools/array_file.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "tools/command_line.hpp"
#include "tools/words.hpp"

namespace partita::tools {
namespace {

constexpr std::array<std::string_view, 3> hdf5_suffixes{".h5", ".hdf5", ".hdf"};

/// Where the name of a dataset begins in "a.h5:group/a", and the colon before it; npos: nowhere.
std::size_t colon_of(const std::string& word) {
  for (const std::string_view suffix : hdf5_suffixes) {
    const std::size_t found = word.rfind(std::string(suffix) + ":");
    if (found != std::string::npos) return found + suffix.size();
  }
  return std::string::npos;
}

bool is_hdf5(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  for (const std::string_view known : hdf5_suffixes) {
    if (suffix == known) return true;
  }
  if (suffix == ".npy") return false;
  throw UsageError(fmt::format("{}: the suffix must be .npy, .h5 or .hdf5", path));
}

}  // namespace

ArrayFile array_file(const std::string& word, const std::string& dataset) {
  const std::size_t colon = colon_of(word);
  if (colon == std::string::npos) {
    return is_hdf5(word) ? ArrayFile{word, dataset} : ArrayFile{word};
  }
  const std::string named = word.substr(colon + 1);
  if (named.empty()) throw UsageError(fmt::format("{}: no dataset is named after the colon", word));
  return {word.substr(0, colon), named};
}

FileHeader inspect(const ArrayFile& file) {
  return file.dataset ? inspect_hdf5(file.path, *file.dataset) : inspect_npy(file.path);
}

Array read(const Context& context, const ArrayFile& file, const Distribution& distribution,
           const ArrayOptions& options) {
  return file.dataset ? read_hdf5(context, file.path, *file.dataset, distribution, options)
                      : read_npy(context, file.path, distribution, options);
}

Array read_as_stored(const Context& context, const ArrayFile& file,
                     const std::optional<Distribution>& distribution) {
  const FileHeader header = inspect(file);
  return read(context, file, distribution.value_or(file_distribution(header)), {.order = header.order});
}

void write(const ArrayFile& file, const Array& array, Order order) {
  file.dataset ? write_hdf5(file.path, *file.dataset, array) : write_npy(file.path, array, order);
}

void check_order(const ArrayFile& file, Order order, const char* remedy) {
  if (file.dataset && order == Order::column_major)
    throw UsageError(fmt::format("HDF5 has C order only; {}", remedy));
}

}  // namespace partita::tools
