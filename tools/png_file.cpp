#include <fmt/format.h>
#include <png.h>

#include <partita/error.hpp>
#include <partita/io.hpp>
#include <string>

#include "tools/image.hpp"

namespace partita::tools {
namespace {

static_assert(sizeof(Colour) == 3, "the pixels are handed to libpng as they lie");

}  // namespace

void write_png(const std::string& path, const Image& image) {
  png_image description{};
  description.version = PNG_IMAGE_VERSION;
  description.width = static_cast<png_uint_32>(image.width);
  description.height = static_cast<png_uint_32>(image.height);
  description.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(description);
  std::string file(bytes, '\0');
  if (png_image_write_to_memory(&description, file.data(), &bytes, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw FileError(fmt::format("{} could not be written: {}", path, description.message));
  }
  file.resize(bytes);
  write_file(path, file);
}

}  // namespace partita::tools
