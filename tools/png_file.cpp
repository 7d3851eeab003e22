#include <fmt/format.h>
#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <partita/error.hpp>

#include "tools/image.hpp"

namespace partita::tools {
namespace {

static_assert(sizeof(Colour) == 3, "the pixels are handed to libpng as they lie");

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  std::remove((path + ".part").c_str());
  throw FileError(fmt::format("{} could not be written: {}", path, why));
}

}  // namespace

void write_png(const std::string& path, const Image& image) {
  const std::string temporary = path + ".part";
  png_image description{};
  description.version = PNG_IMAGE_VERSION;
  description.width = static_cast<png_uint_32>(image.width);
  description.height = static_cast<png_uint_32>(image.height);
  description.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&description, temporary.c_str(), 0, image.pixels.data(), 0, nullptr) == 0) {
    refuse(path, description.message);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) refuse(path, std::strerror(errno));
}

}  // namespace partita::tools
