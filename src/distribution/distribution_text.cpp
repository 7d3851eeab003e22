// The text form of distributions.
#include <fmt/format.h>

#include <charconv>
#include <partita/distribution.hpp>

#include "base/check.hpp"
#include "distribution/partition_spec.hpp"
#include "distribution/permutation.hpp"

namespace partita {

std::string_view name(DistributionKind kind) {
  static constexpr std::array<std::string_view, 6> names{
      "slab", "box", "block-cyclic", "block-noncyclic", "replicated", "mesh"};
  const auto index = static_cast<std::size_t>(kind);
  check(index < names.size(), "unknown kind of distribution, number {}", index);
  return names[index];
}

namespace {

/// The pieces between separators; one empty piece for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

template <class Integer = std::int64_t>
Integer parse_number(std::string_view text, std::string_view what) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size() && value >= 0,
        "\"{}\" is not a valid {}: expected a whole number, 0 or more", text, what);
  return value;
}

Extents parse_numbers(std::string_view text, char separator, std::string_view what) {
  Extents numbers;
  if (text.empty() || text == "scalar") return numbers;
  for (const std::string_view piece : split(text, separator)) numbers.push_back(parse_number(piece, what));
  return numbers;
}

/// "4x3"; "scalar" for none.
Extents parse_extents(std::string_view text, std::string_view what) {
  check(!text.empty(), "the {} is missing", what);
  return parse_numbers(text, 'x', what);
}

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  for (const std::string_view rank : split(text, ',')) ranks.push_back(parse_number<int>(rank, "rank"));
  return ranks;
}

/// "column", "ranks=3,2,1,0", "first=0,1", each at most once.
ProcessGrid parse_grid(const Extents& extents, std::span<const std::string_view> options) {
  bool column = false;
  std::optional<std::vector<int>> ranks;
  std::optional<Extents> first;
  for (const std::string_view option : options) {
    if (option == "column" && !column) {
      column = true;
    } else if (option.starts_with("ranks=") && !ranks) {
      ranks = parse_ranks(option.substr(6));
    } else if (option.starts_with("first=") && !first) {
      first = parse_numbers(option.substr(6), ',', "first process");
      check(!first->empty(), "\"first=\" names no process");
    } else {
      throw ArgumentError(fmt::format(
          "unknown option \"{}\"; known options, each once: column, ranks=R,R,..., first=C,C,...", option));
    }
  }
  check(!column || !ranks, "\"column\" and \"ranks=\" exclude each other");
  const Extents start = first.value_or(Extents{});
  if (ranks) return ProcessGrid::of_ranks(extents, std::move(*ranks), start);
  return ProcessGrid(extents, column ? Order::column_major : Order::row_major, start);
}

bool is_option(std::string_view text) {
  return text == "column" || text.starts_with("ranks=") || text.starts_with("first=");
}

Distribution parse_slab(std::string_view text) {
  return Slab(parse_number<int>(text, "axis"));
}

Distribution parse_box(std::string_view text) {
  std::vector<Box::Bounds> boxes;
  if (text.empty()) return Box(std::move(boxes));
  for (const std::string_view piece : split(text, ';')) {
    const auto corners = split(piece, '-');
    check(corners.size() == 2, "\"{}\" is not a box: expected LOWER-UPPER, as in 0,0-4,3", piece);
    boxes.push_back({parse_numbers(corners[0], ',', "corner"), parse_numbers(corners[1], ',', "corner")});
    check(boxes.back().lower.size() == boxes.back().upper.size(),
          "the corners of the box \"{}\" have {} and {} dimensions", piece, boxes.back().lower.size(),
          boxes.back().upper.size());
  }
  return Box(std::move(boxes));
}

Distribution parse_block_cyclic(std::string_view text) {
  const auto pieces = split(text, ':');
  check(pieces.size() >= 2, "block-cyclic needs a grid and a block: block-cyclic:2x2:128x128");
  const Extents grid = parse_extents(pieces[0], "grid extent");
  const Extents block = parse_extents(pieces[1], "block extent");
  return BlockCyclic(parse_grid(grid, std::span(pieces).subspan(2)), block);
}

Distribution parse_block_non_cyclic(std::string_view text) {
  const auto pieces = split(text, ':');
  const Extents grid = parse_extents(pieces[0], "grid extent");
  const bool has_block = pieces.size() > 1 && !is_option(pieces[1]);
  const Extents block = has_block ? parse_extents(pieces[1], "block extent") : Extents{};
  return BlockNonCyclic(parse_grid(grid, std::span(pieces).subspan(has_block ? 2 : 1)), block);
}

Mesh parse_mesh(std::string_view text) {
  std::vector<Mesh::Axis> axes;
  if (text.empty()) return Mesh();
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t equals = piece.find('=');
    check(equals != std::string_view::npos, "\"{}\" is not a mesh axis: expected NAME=SIZE", piece);
    axes.push_back({std::string(piece.substr(0, equals)),
                    parse_number<int>(piece.substr(equals + 1), "size of a mesh axis")});
  }
  return Mesh(std::move(axes));
}

std::vector<std::string> parse_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ',')) names.emplace_back(name);
  return names;
}

/// "(x,y),-,z": one entry per dimension.
std::vector<std::vector<std::string>> parse_dimensions(std::string_view text) {
  std::vector<std::vector<std::string>> dimensions;
  while (!text.empty()) {
    const bool several = text.front() == '(';
    const std::size_t close = several ? text.find(')') : text.find(',');
    check(!several || close != std::string_view::npos, "the parenthesis in \"{}\" is not closed", text);
    const std::string_view entry = several ? text.substr(1, close - 1) : text.substr(0, close);
    dimensions.push_back(entry == "-" ? std::vector<std::string>() : parse_names(entry));
    text = close == std::string_view::npos ? "" : text.substr(close + (several ? 1 : 0));
    if (text.empty()) break;
    check(text.front() == ',' && text.size() > 1, "\"{}\": expected a comma and the next dimension", text);
    text.remove_prefix(1);
  }
  return dimensions;
}

Distribution parse_partitioned(std::string_view text) {
  const std::size_t colon = text.find(':');
  check(colon != std::string_view::npos, "mesh needs its axes and a spec: mesh:x=2,y=2:x,y");
  Partitioned rule{parse_mesh(text.substr(0, colon)), {}};
  const auto pieces = split(text.substr(colon + 1), ';');
  rule.spec.dimensions = parse_dimensions(pieces[0]);
  bool partial = false;
  bool uneven = false;
  bool ranks = false;
  for (const std::string_view option : std::span(pieces).subspan(1)) {
    if (option.starts_with("partial=") && !partial) {
      const std::size_t names = option.find(':');
      check(names != std::string_view::npos, "\"{}\" names no axes: partial=sum:x", option);
      rule.spec.partial_reduction = parse_reduction(option.substr(8, names - 8));
      rule.spec.partial_axes = parse_names(option.substr(names + 1));
      partial = true;
    } else if ((option == "uneven=balanced" || option == "uneven=ceil") && !uneven) {
      rule.spec.uneven = option == "uneven=ceil" ? Uneven::ceil : Uneven::balanced;
      uneven = true;
    } else if (option.starts_with("ranks=") && !ranks) {
      rule.mesh = Mesh(rule.mesh.axes(), parse_ranks(option.substr(6)));
      ranks = true;
    } else {
      throw ArgumentError(
          fmt::format("unknown option \"{}\"; known options, each once: partial=OP:AXES, uneven=balanced, "
                      "ranks=R,R,...",
                      option));
    }
  }
  (void)distribution::resolve(rule.spec, rule.mesh);
  return rule;
}

Distribution parse_rule(std::string_view kind, std::string_view rest) {
  if (kind == "slab") return parse_slab(rest);
  if (kind == "box") return parse_box(rest);
  if (kind == "block-cyclic") return parse_block_cyclic(rest);
  if (kind == "block-noncyclic") return parse_block_non_cyclic(rest);
  if (kind == "replicated" && rest.empty()) return Replicated{};
  if (kind == "mesh") return parse_partitioned(rest);
  check(kind != "replicated", "replicated has no parameters");
  throw ArgumentError(
      "known are slab:AXIS, box:LOWER-UPPER;..., block-cyclic:GRID:BLOCK, block-noncyclic:GRID[:BLOCK], "
      "replicated, mesh:NAME=SIZE,...:SPEC");
}

}  // namespace

Distribution Distribution::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  try {
    const bool bare = colon == std::string_view::npos;
    return parse_rule(text.substr(0, colon), bare ? std::string_view() : text.substr(colon + 1));
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("invalid distribution \"{}\": {}", text, error.what()));
  }
}

namespace {

std::string text_of(const Slab& slab) {
  return fmt::format("slab:{}", slab.axis);
}

std::string text_of(const Box& box) {
  std::string text = "box:";
  for (const Box::Bounds& bounds : box.boxes) {
    if (&bounds != &box.boxes.front()) text += ';';
    text += fmt::format("{}-{}", fmt::join(bounds.lower.begin(), bounds.lower.end(), ","),
                        fmt::join(bounds.upper.begin(), bounds.upper.end(), ","));
  }
  return text;
}

/// The grid's text with `middle` between its extents and its options.
std::string with_grid(const ProcessGrid& grid, const std::string& middle) {
  const std::string extents = to_string(grid.extents());
  return extents + middle + grid.to_string().substr(extents.size());
}

std::string text_of(const BlockCyclic& rule) {
  return fmt::format("block-cyclic:{}", with_grid(rule.grid, fmt::format(":{}", to_string(rule.block))));
}

std::string text_of(const BlockNonCyclic& rule) {
  const std::string block = rule.block.empty() ? "" : fmt::format(":{}", to_string(rule.block));
  return fmt::format("block-noncyclic:{}", with_grid(rule.grid, block));
}

std::string text_of(const Replicated&) {
  return "replicated";
}

std::string text_of(const Partitioned& rule) {
  std::vector<std::string> axes;
  std::vector<std::string> dimensions;
  for (const Mesh::Axis& axis : rule.mesh.axes()) axes.push_back(fmt::format("{}={}", axis.name, axis.size));
  for (const auto& names : rule.spec.dimensions) {
    if (names.empty()) dimensions.emplace_back("-");
    if (names.size() == 1) dimensions.push_back(names.front());
    if (names.size() > 1) dimensions.push_back(fmt::format("({})", fmt::join(names, ",")));
  }
  std::string text = fmt::format("mesh:{}:{}", fmt::join(axes, ","), fmt::join(dimensions, ","));
  if (!rule.spec.partial_axes.empty()) {
    text += fmt::format(";partial={}:{}", name(rule.spec.partial_reduction),
                        fmt::join(rule.spec.partial_axes, ","));
  }
  if (rule.spec.uneven == Uneven::balanced) text += ";uneven=balanced";
  if (!rule.mesh.ranks().empty()) text += fmt::format(";ranks={}", fmt::join(rule.mesh.ranks(), ","));
  return text;
}

}  // namespace

std::string Distribution::to_string() const {
  return std::visit([](const auto& rule) { return text_of(rule); }, rule_);
}

}  // namespace partita
