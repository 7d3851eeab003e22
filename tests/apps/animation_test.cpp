// What giflib reads of an animation is what was put into it.
#include "picture/animation.hpp"

#include <gif_lib.h>

#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Animation, IsReadAsItWasWritten) {
  const SharedDirectory directory(context);
  const std::string path = directory / fmt::format("{}.gif", context.rank());
  picture::Palette palette{};
  for (std::size_t i = 0; i < palette.size(); ++i) palette[i] = picture::glow(static_cast<double>(i) / 255);
  const int width = 37, height = 11;
  picture::Animation animation(width, height, palette);
  std::vector<std::vector<std::uint8_t>> frames;
  for (unsigned frame = 0; frame < 3; ++frame) {
    frames.emplace_back();
    for (unsigned i = 0; i < width * height; ++i)
      frames.back().push_back(static_cast<std::uint8_t>((i * (frame + 7)) % 256));
    animation.add(frames.back());
  }
  animation.write(path, 8);

  int error = 0;
  GifFileType* const gif = DGifOpenFileName(path.c_str(), &error);
  ASSERT_NE(gif, nullptr) << GifErrorString(error);
  ASSERT_EQ(DGifSlurp(gif), GIF_OK);
  EXPECT_EQ(gif->SWidth, width);
  EXPECT_EQ(gif->SHeight, height);
  ASSERT_EQ(gif->ImageCount, 3);
  EXPECT_EQ(gif->SColorMap->Colors[200].Red, palette[200][0]);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    GraphicsControlBlock control{};
    ASSERT_EQ(DGifSavedExtensionToGCB(gif, static_cast<int>(i), &control), GIF_OK);
    EXPECT_EQ(control.DelayTime, 8);
    const GifByteType* const raster = gif->SavedImages[i].RasterBits;
    EXPECT_TRUE(std::equal(frames[i].begin(), frames[i].end(), raster));
  }
  DGifCloseFile(gif, &error);
  EXPECT_THROW(animation.write(directory / "missing/animation.gif", 8), FileError);
}

}  // namespace
}  // namespace partita::testing
