#include "picture/animation.hpp"

#include <gif_lib.h>

#include <partita/partita.hpp>
#include <utility>

namespace picture {
namespace {

int append(GifFileType* gif, const GifByteType* bytes, int count) {
  static_cast<std::string*>(gif->UserData)
      ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
  return count;
}

/// A GIF in the making, in memory; of calls that say whether they have succeeded.
class Encoder {
 public:
  explicit Encoder(const std::string& path) : path_(path), gif_(EGifOpen(&file_, append, &error_)) {
    if (gif_ == nullptr) fail();
    EGifSetGifVersion(gif_, true);  // of 1989, which can move
  }
  ~Encoder() {
    if (gif_ != nullptr) EGifCloseFile(gif_, &error_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void begin(int width, int height, const Palette& palette) {
    std::array<GifColorType, 256> colours{};
    for (std::size_t i = 0; i < palette.size(); ++i)
      colours[i] = {palette[i][0], palette[i][1], palette[i][2]};
    ColorMapObject* const map = GifMakeMapObject(static_cast<int>(colours.size()), colours.data());
    if (map == nullptr) fail();
    check(EGifPutScreenDesc(gif_, width, height, 8, 0, map));  // copies the map
    GifFreeMapObject(map);
    // Netscape's extension: for ever.
    const std::array<GifByteType, 3> times{1, 0, 0};
    check(EGifPutExtensionLeader(gif_, APPLICATION_EXT_FUNC_CODE));
    check(EGifPutExtensionBlock(gif_, 11, "NETSCAPE2.0"));
    check(EGifPutExtensionBlock(gif_, static_cast<int>(times.size()), times.data()));
    check(EGifPutExtensionTrailer(gif_));
  }

  void frame(int width, int height, std::vector<std::uint8_t> levels, int hundredths) {
    const GraphicsControlBlock control{DISPOSE_DO_NOT, false, hundredths, NO_TRANSPARENT_COLOR};
    std::array<GifByteType, 4> bytes{};
    EGifGCBToExtension(&control, bytes.data());
    check(EGifPutExtension(gif_, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(bytes.size()), bytes.data()));
    check(EGifPutImageDesc(gif_, 0, 0, width, height, false, nullptr));
    check(EGifPutLine(gif_, levels.data(), width * height));
  }

  std::string finish() {
    check(EGifCloseFile(std::exchange(gif_, nullptr), &error_));
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail() const {
    const char* const why = GifErrorString(gif_ == nullptr ? error_ : gif_->Error);
    throw partita::FileError(path_ + " could not be written: " + (why == nullptr ? "no memory" : why));
  }
  void check(int result) const {
    if (result != GIF_OK) fail();
  }

  const std::string& path_;
  std::string file_;
  int error_ = 0;
  GifFileType* gif_;
};

}  // namespace

void Animation::add(std::span<const std::uint8_t> levels) {
  frames_.emplace_back(levels.begin(), levels.end());
}

void Animation::write(const std::string& path, int hundredths) const {
  Encoder encoder(path);
  encoder.begin(width_, height_, palette_);
  for (const auto& levels : frames_) encoder.frame(width_, height_, levels, hundredths);
  partita::write_file(path, encoder.finish());
}

}  // namespace picture
