// partita layout: who owns what, in the terminal, as SVG and as PNG.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <partita/io.hpp>
#include <partita/layout.hpp>
#include <sstream>

#include "tools/command_line.hpp"
#include "tools/image.hpp"
#include "tools/picture_text.hpp"
#include "tools/subcommand.hpp"

namespace partita::tools::layout_command {

struct Options {
  std::optional<Distribution> distribution;
  Shape shape;
  std::string slice, svg, png;
  int ranks = 0;
};

std::int64_t parse_index(const std::string& piece, std::int64_t extent, int axis) {
  std::int64_t index = -1;
  const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), index);
  if (error != std::errc{} || end != piece.data() + piece.size() || index < 0 || index >= extent) {
    throw UsageError(
        fmt::format("\"{}\" is not an index along axis {}, whose extent is {}", piece, axis, extent));
  }
  return index;
}

/// "0,:,:": a colon for each dimension to show. An empty text: the usual slice. Throws UsageError.
Slice choose_slice(const std::string& text, const Shape& shape) {
  if (text.empty()) return usual_slice(shape);
  Slice slice;
  std::istringstream pieces(text);
  int shown = 0;
  for (std::string piece; std::getline(pieces, piece, ',');) {
    const int axis = slice.at.size();
    if (axis == shape.size()) break;
    slice.at.push_back(piece == ":" ? 0 : parse_index(piece, shape[axis], axis));
    if (piece != ":") continue;
    slice.row = slice.column;
    slice.column = axis;
    ++shown;
  }
  const auto commas = static_cast<int>(std::count(text.begin(), text.end(), ','));
  if (commas + 1 != shape.size() || shown < 1 || shown > 2) {
    throw UsageError(
        fmt::format("the slice \"{}\" must have {} entries, one or two of them \":\"", text, shape.size()));
  }
  return slice;
}

std::string clipped(const std::string& text, std::size_t length) {
  return text.size() <= length ? text : text.substr(0, length - 3) + "...";
}

void print_table(const Layout& layout, int columns) {
  constexpr int most = 64;
  std::size_t width = 5;
  const int shown = std::min(layout.ranks(), most);
  for (int rank = 0; rank < shown; ++rank)
    width = std::max(width, to_string(layout.local_shape(rank)).size());
  fmt::print("{:>6}  {:<{}}  {:>12}  owns\n", "rank", "shape", width, "elements");
  const std::size_t room = static_cast<std::size_t>(std::max(20, columns - 26 - static_cast<int>(width)));
  for (int rank = 0; rank < shown; ++rank) {
    fmt::print("{:>6}  {:<{}}  {:>12}  {}\n", rank, to_string(layout.local_shape(rank)), width,
               layout.local_size(rank),
               clipped(to_string(layout.region(rank)), std::max<std::size_t>(room, 60)));
  }
  if (shown < layout.ranks()) fmt::print("  ... and {} ranks more\n", layout.ranks() - shown);
}

void print_state(const Layout& layout) {
  if (layout.is_replicated()) fmt::print("replicated: each element is on all ranks listed in its cell\n");
  if (const auto partial = layout.partial()) {
    fmt::print("partial: the value of an element is the {} over the ranks listed in its cell\n",
               name(partial->reduction));
  }
}

void write_pictures(const Options& options, const Layout& layout, const Slice& slice) {
  if (!options.svg.empty()) {
    write_file(options.svg, svg_of(paint(layout, slice, 64, 64), layout, slice));
  }
  if (!options.png.empty()) {
    const Picture picture = paint(layout, slice, 512, 512);
    const int side = std::max(1, 512 / std::max({picture.rows, picture.columns, 1}));
    const Image body = image_of(picture, std::min(side, 48));
    const Image legend = legend_of(layout.ranks(), std::max(body.width, 200));
    Image image(std::max(body.width, legend.width) + 20, body.height + legend.height + 32);
    image.paste(body, 10, 10);
    image.paste(legend, 10, body.height + 22);
    write_png(options.png, image);
  }
}

void show(const Options& options) {
  const int named = ranks_named_by(*options.distribution);
  const int ranks = options.ranks > 0 ? options.ranks : named > 0 ? named : 4;
  const Layout layout(*options.distribution, options.shape, ranks);
  const Slice slice = choose_slice(options.slice, layout.shape());
  const Terminal screen = terminal();
  const int widest = static_cast<int>(std::to_string(ranks - 1).size()) + (screen.colours ? 2 : 1);
  const Picture picture = paint(layout, slice, 32, std::clamp((screen.columns - 2) / widest, 8, 64));
  fmt::print("{}\n\n", layout.to_string());
  const std::string note = describe(picture, slice, layout.shape());
  fmt::print("{}\n", text_of(picture, screen));
  if (!note.empty()) fmt::print("{}\n", note);
  print_state(layout);
  print_table(layout, screen.columns);
  write_pictures(options, layout, slice);
}

void describe(Subcommand& command, Options& options) {
  command
      .distribution("DISTRIBUTION", options.distribution,
                    "distribution: slab:0, block-cyclic:2x2:128x128, ...")
      .required();
  command.shape(options.shape, "global shape");
  command.ranks(options.ranks, "ranks (those of the distribution, or 4)");
  command.word("--slice", options.slice, "plane to show, for more than two dimensions", "0,:,:");
  command.word("--svg", options.svg, "also write the picture to this file, as SVG", "FILE");
  command.word("--png", options.png, "also write the picture to this file, as PNG", "FILE");
  command.footer(
      "Distributions:\n  slab:AXIS  box:0,0-4,3;4,0-8,3  "
      "block-cyclic:GRID:BLOCK[:column][:first=..][:ranks=..]\n"
      "  block-noncyclic:GRID[:BLOCK]  replicated  "
      "mesh:x=2,y=2:x,y[;partial=sum:AXES][;uneven=balanced][;ranks=R,...]\n\n" +
      examples("partita layout block-cyclic:2x2:2x2 --shape 8x8\n"
               "partita layout slab:1 --shape 197x233x189 -n 6 --slice 98,:,:\n"
               "partita layout mesh:x=2,y=2:x,y --shape 10x10 --svg mesh.svg"));
}

const Register registered("layout", "show which rank owns what: a picture and a table", describe, show);

}  // namespace partita::tools::layout_command
