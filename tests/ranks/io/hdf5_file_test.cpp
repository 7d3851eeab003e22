// HDF5 files of several datasets: what is added, replaced and kept, chunks, attributes, lists.
#include <hdf5.h>

#include <cerrno>

#include "support/models/random_layouts.hpp"
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

Array known(const Context& context, const Shape& shape, Dtype dtype = Dtype::f64) {
  Array array = empty(context, shape, Slab(0), dtype);
  write_known(array);
  return array;
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const Hdf5Entry& entry : list_hdf5(path)) names.push_back(entry.name);
  return names;
}

int wrong(const Context& context, const std::string& path, const std::string& dataset, const Array& array) {
  return static_cast<int>(count_wrong(read_hdf5(context, path, dataset, Slab(0)), array.layout()));
}

void link_softly(const std::string& path, const char* target, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Lcreate_soft(target, file, name, H5P_DEFAULT, H5P_DEFAULT), 0);
  H5Fclose(file);
}

/// Of `dimensions` dimensions, each with one number.
void attach_unsigned(const std::string& path, const char* dataset, const char* name, std::uint64_t number,
                     int dimensions = 0) {
  const hsize_t extents[] = {1, 1, 1};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t object = H5Oopen(file, dataset, H5P_DEFAULT),
              space =
                  dimensions == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(dimensions, extents, nullptr);
  const hid_t attribute = H5Acreate2(object, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_UINT64, &number), 0);
  H5Aclose(attribute), H5Sclose(space), H5Oclose(object), H5Fclose(file);
}

RANK_TEST(Hdf5Files, ADatasetIsAddedOrReplacedAndAllElseStays) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array first = known(context, {7, 3}), second = known(context, {40}, Dtype::i32);
  const Hdf5Attributes attributes{{"unit", std::string("m/s")}, {"step", std::int64_t{12}}};
  write_hdf5(path, "first", first, {.attributes = attributes});
  write_hdf5(path, "group/second", second);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"first", "group", "group/second"}));
  EXPECT_EQ(wrong(context, path, "first", first), 0);
  EXPECT_EQ(wrong(context, path, "group/second", second), 0);
  context.barrier();
  const Array other = known(context, {100, 2}, Dtype::c64);
  write_hdf5(path, "group/second", other);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"first", "group", "group/second"}));
  EXPECT_EQ(wrong(context, path, "first", first), 0);
  EXPECT_EQ(wrong(context, path, "group/second", other), 0);
  EXPECT_EQ(read_hdf5_attributes(path, "first"), attributes);
  context.barrier();
  write_hdf5(path, "alone", second, {.truncate = true});
  EXPECT_EQ(names_in(path), std::vector<std::string>{"alone"});
  EXPECT_EQ(wrong(context, path, "alone", second), 0);
}

RANK_TEST(Hdf5Files, SeveralLandTogetherOrNotAtAll) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array first = known(context, {7, 3}), second = known(context, {40}, Dtype::i32);
  const Array third = known(context, {9, 4}, Dtype::f32);
  write_hdf5(path, "kept", first);
  const Hdf5Attributes attributes{{"step", std::int64_t{3}}};
  write_hdf5(path, {{"group/second", second, {.attributes = attributes}},
                    {"third", third, {.chunks = {2, 4}, .compression = 1}},
                    {"first", first}});
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"first", "group", "group/second", "kept", "third"}));
  EXPECT_EQ(wrong(context, path, "first", first), 0);
  EXPECT_EQ(wrong(context, path, "group/second", second), 0);
  EXPECT_EQ(wrong(context, path, "third", third), 0);
  EXPECT_EQ(wrong(context, path, "kept", first), 0);
  EXPECT_EQ(read_hdf5_attributes(path, "group/second"), attributes);
  context.barrier();
  // "group" is none that could be replaced: of all three nothing is written.
  EXPECT_THROW(write_hdf5(path, {{"new", first}, {"group", second}, {"third", first}}), FileError);
  EXPECT_THROW(write_hdf5(path, {{"new", first}, {"new", second}}), ArgumentError);
  EXPECT_THROW(write_hdf5(path, std::vector<Hdf5Dataset>{}), ArgumentError);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"first", "group", "group/second", "kept", "third"}));
  EXPECT_EQ(wrong(context, path, "third", third), 0);
  context.barrier();
  write_hdf5(path, {{"second", second}, {"first", first, {.truncate = true}}});
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"first", "second"}));
}

RANK_TEST(Hdf5Files, OneDatasetByTwoNamesIsRefused) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array first = known(context, {7, 3}), second = known(context, {40}, Dtype::i32);
  write_hdf5(path, "group/data", first);
  if (context.rank() == 0) link_softly(path, "/group/data", "link");
  context.barrier();
  for (const std::string same : {"/group/data", "group//data", "./group/data"}) {
    EXPECT_THROW(write_hdf5(path, {{"group/data", first}, {same, second}}), ArgumentError) << same;
    EXPECT_THROW(write_hdf5(path, {{same, second}, {"group/data", first}}), ArgumentError) << same;
  }
  EXPECT_EQ(wrong(context, path, "group/data", first), 0);
  EXPECT_EQ(wrong(context, path, "link", first), 0);
  context.barrier();
  write_hdf5(path, "//group//data", second);  // the same as without
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"group", "group/data", "link"}));
  EXPECT_EQ(wrong(context, path, "group/data", second), 0);
}

RANK_TEST(Hdf5Files, ReplacingAgainAndAgainDoesNotGrowTheFile) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array array = known(context, {64, 64});
  write_hdf5(path, "kept", array);
  write_hdf5(path, "data", array);
  context.barrier();
  const auto size = fs::file_size(path);
  for (int i = 0; i < 5; ++i) write_hdf5(path, "data", array);
  context.barrier();
  EXPECT_LE(fs::file_size(path), size + size / 2);
  EXPECT_EQ(wrong(context, path, "kept", array), 0);
}

RANK_TEST(Hdf5Files, AttributesOfEveryKind) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Hdf5Attributes attributes{{"text", std::string("größer")},
                                  {"empty", std::string()},
                                  {"whole", std::int64_t{-5}},
                                  {"real", 0.1},
                                  {"list", std::vector<std::int64_t>{1, 2, 3}},
                                  {"nothing", std::vector<double>()},
                                  {"reals", std::vector<double>{0.5, -1}}};
  write_hdf5(path, "data", known(context, {4}), {.attributes = attributes});
  EXPECT_EQ(read_hdf5_attributes(path, "data"), attributes);
  EXPECT_TRUE(read_hdf5_attributes(path, "/").empty());
  context.barrier();
  write_hdf5(path, "data", known(context, {4}));
  EXPECT_TRUE(read_hdf5_attributes(path, "data").empty());
}

RANK_TEST(Hdf5Files, AttributesOfGroupsAndOfTheFile) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array array = known(context, {40, 3});
  write_hdf5(path, "group/data", array, {.attributes = {{"unit", std::string("m")}, {"step", 0.5}}});
  write_hdf5_attributes(context, path, "/", {{"title", std::string("a run")}});
  write_hdf5_attributes(context, path, "group", {{"size", std::int64_t{3}}});
  write_hdf5_attributes(context, path, "group/data", {{"step", std::vector<std::int64_t>{4, 5}}});
  EXPECT_EQ(read_hdf5_attributes(path, "/"), (Hdf5Attributes{{"title", std::string("a run")}}));
  EXPECT_EQ(read_hdf5_attributes(path, "group"), (Hdf5Attributes{{"size", std::int64_t{3}}}));
  const Hdf5Attributes of_data{{"unit", std::string("m")}, {"step", std::vector<std::int64_t>{4, 5}}};
  EXPECT_EQ(read_hdf5_attributes(path, "group/data"), of_data);
  EXPECT_EQ(wrong(context, path, "group/data", array), 0);
  context.barrier();
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5_attributes(context, directory / "b.h5", "/", {{"x", 1.0}}),
                      "No such file");
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5_attributes(context, path, "grop", {{"x", 1.0}}),
                      "the file has group, group/data");
  const Hdf5Attributes huge{{"huge", std::vector<double>(20000)}, {"a", 1.0}};
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5_attributes(context, path, "group", huge), "\"huge\"");
  EXPECT_THROW(write_hdf5_attributes(context, path, "group", {{"", 1.0}}), ArgumentError);
  EXPECT_THROW(write_hdf5_attributes(context, path, "", {{"x", 1.0}}), ArgumentError);
  EXPECT_EQ(read_hdf5_attributes(path, "group"), (Hdf5Attributes{{"size", std::int64_t{3}}}));
}

/// A text is stored with the object, and may be long.
RANK_TEST(Hdf5Files, LongTextsAreAttributesToo) {
  const SharedDirectory directory(context);
  const Hdf5Attributes attributes{{"log", std::string(300000, 'x')}};
  write_hdf5(directory / "a.h5", "data", known(context, {4}), {.attributes = attributes});
  EXPECT_EQ(read_hdf5_attributes(directory / "a.h5", "data"), attributes);
}

RANK_TEST(Hdf5Files, IntegersBeyondThoseWithASignStayWhole) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  write_hdf5(path, "data", known(context, {4}));
  if (context.rank() == 0) {
    attach_unsigned(path, "data", "fits", std::numeric_limits<std::int64_t>::max());
    attach_unsigned(path, "data", "does_not", std::numeric_limits<std::uint64_t>::max());
  }
  context.barrier();
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(read_hdf5_attributes(path, "data"),
            (Hdf5Attributes{{"fits", std::numeric_limits<std::int64_t>::max()}, {"does_not", most}}));
  const Hdf5Attributes attributes{{"seed", most - 1},
                                  {"seeds", std::vector<std::uint64_t>{1, most}},
                                  {"rank", 5U},
                                  {"size", std::size_t{7}}};
  write_hdf5_attributes(context, path, "data", attributes);
  const Hdf5Attributes found = read_hdf5_attributes(path, "data");
  for (const auto& [name, value] : attributes) EXPECT_EQ(found.at(name), value) << name;
  EXPECT_EQ(std::get<std::int64_t>(found.at("rank")), 5);
}

/// An attribute that is not a text, number or vector of numbers is named, and not written again.
RANK_TEST(Hdf5Files, AttributesOfOtherKindsAreListed) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  write_hdf5(path, "data", known(context, {4}));
  if (context.rank() == 0) attach_unsigned(path, "data", "matrix", 1, 2);
  context.barrier();
  const Hdf5Attributes found = read_hdf5_attributes(path, "data");
  ASSERT_TRUE(found.contains("matrix"));
  const auto* const unread = std::get_if<Hdf5Unread>(&found.at("matrix"));
  ASSERT_NE(unread, nullptr);
  EXPECT_EQ(unread->what, "an array of 2 dimensions of integers of 8 bytes");
  EXPECT_ERROR_ON_ALL(ArgumentError, write_hdf5_attributes(context, path, "data", found),
                      "\"matrix\" was not read (an array of 2 dimensions");
}

RANK_TEST(Hdf5Files, WhatIsNoDatasetIsNamed) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  write_hdf5(path, "group/data", known(context, {4}));
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "group", Slab(0)), "\"group\" is a group");
  errno = 0;  // the reason is that of this call, not of an earlier one
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, directory / "missing.h5", "data", Slab(0)),
                      "cannot open the file: No such file");
}

/// Where groups cannot be read, "nothing" would be no answer.
RANK_TEST(Hdf5Files, DamagedGroupsAreNotEmpty) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  write_hdf5(path, "group/data", known(context, {4}));
  context.barrier();
  if (context.rank() == 0) {
    std::ifstream whole(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(whole)), {});
    for (const char* mark : {"TREE", "HEAP", "SNOD"}) {
      for (std::size_t at = bytes.find(mark); at != std::string::npos; at = bytes.find(mark)) bytes[at] = '?';
    }
    overwrite(path, bytes);
  }
  context.barrier();
  EXPECT_ERROR_ON_ALL(FileError, list_hdf5(path), "cannot list the contents of the file");
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "group/data", Slab(0)),
                      "cannot list the contents of the file");
}

RANK_TEST(Hdf5Files, ChunksOfEveryShape) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 3);
  for (int i = 0; i < 12; ++i) {
    const Shape shape = random.shape(random.number(1, 3), 20);
    const Layout layout = random.layout(shape, context.size());
    if (layout.partial()) continue;
    Array array = empty(context, layout, random.maybe() ? Dtype::f32 : Dtype::boolean);
    write_known(array);
    Hdf5Options options;
    for (const std::int64_t extent : shape) {
      options.chunks.push_back(random.number(1, static_cast<int>(std::max<std::int64_t>(extent, 1))));
    }
    options.compression = random.number(0, 9);
    options.shuffle = random.maybe();
    const std::string name = fmt::format("set{}", i);
    write_hdf5(path, name, array, options);
    EXPECT_EQ(wrong(context, path, name, array), 0) << layout.to_string() << to_string(options.chunks);
    EXPECT_EQ(list_hdf5(path).back().header->shape, shape);
    context.barrier();
    fs::remove(path);
    context.barrier();
  }
}

RANK_TEST(Hdf5Files, CompressedFilesAreSmaller) {
  const SharedDirectory directory(context);
  const Array array = zeros(context, {256, 256}, Slab(0), Dtype::f64);
  write_hdf5(directory / "plain.h5", "data", array);
  write_hdf5(directory / "small.h5", "data", array, {.chunks = {32, 256}, .compression = 4, .shuffle = true});
  EXPECT_EQ(list_hdf5(directory / "small.h5").front().chunks, (Extents{32, 256}));
  EXPECT_TRUE(list_hdf5(directory / "plain.h5").front().chunks.empty());
  context.barrier();
  EXPECT_LT(10 * fs::file_size(directory / "small.h5"), fs::file_size(directory / "plain.h5"));
}

RANK_TEST(Hdf5Files, WhatCannotBeWrittenLeavesTheOldFile) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array array = known(context, {6, 2});
  write_hdf5(path, "group/data", array);
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(path, "group", array), "is a group");
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(path, "group/data/below", array), "\"group/data\" is a dataset");
  const Hdf5Attributes huge{{"huge", std::vector<double>(20000)}};
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(path, "x", array, {.attributes = huge}), "\"huge\"");
  EXPECT_THROW(write_hdf5(path, "", array), ArgumentError);
  EXPECT_THROW(write_hdf5(path, std::string("a\0b", 3), array), ArgumentError);
  for (const auto& [name, text] : {std::pair(std::string(), std::string("text")),
                                   {std::string("a\0b", 3), "text"},
                                   {"name", std::string("te\0xt", 5)}})
    EXPECT_THROW(write_hdf5(path, "x", array, {.attributes = {{name, text}}}), ArgumentError);
  EXPECT_THROW(write_hdf5(path, "x", array, {.compression = 3}), ArgumentError);
  EXPECT_THROW(write_hdf5(path, "x", array, {.chunks = {7, 1}}), ArgumentError);
  EXPECT_THROW(write_hdf5(path, "x", array, {.chunks = {2}}), ArgumentError);
  EXPECT_THROW(write_hdf5(path, "x", array, {.chunks = {2, 2}, .compression = 10}), ArgumentError);
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"group", "group/data"}));
  EXPECT_EQ(wrong(context, path, "group/data", array), 0);
  context.barrier();
  if (context.rank() == 0) overwrite(directory / "text.h5", "not HDF5");
  context.barrier();
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(directory / "text.h5", "x", array), "not an HDF5 file");
  write_hdf5(directory / "text.h5", "x", array, {.truncate = true});
  EXPECT_EQ(wrong(context, directory / "text.h5", "x", array), 0);
}

/// Errors that HDF5 remembers of a thread that has ended keep it from closing itself.
RANK_TEST(Hdf5Files, NothingIsLeftOfErrors) {
  const SharedDirectory directory(context);
  EXPECT_THROW((void)list_hdf5(directory / "missing.h5"), FileError);
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 0);
  const Array array = known(context, {6, 2});
  write_hdf5(directory / "a.h5", "data", array);
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(directory / "a.h5", "data/x", array), "is a dataset");
  EXPECT_THROW((void)read_hdf5_attributes(directory / "a.h5", "other"), FileError);
  EXPECT_EQ(H5Eget_num(H5E_DEFAULT), 0);
}

RANK_TEST(Hdf5Files, RanksThatWantDifferentThingsHearOfIt) {
  if (context.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const SharedDirectory directory(context);
  const Array array = known(context, {6, 2});
  EXPECT_THROW(write_hdf5(directory / "a.h5", "x", array, {.chunks = {context.rank() == 0 ? 2 : 3, 2}}),
               DisagreementError);
  // Elements of different sizes, which each rank would write to where it expects them.
  const Array narrow = known(context, {6, 2}, Dtype::f32), column = known(context, {12});
  for (const Array& other : {narrow, column}) {
    EXPECT_ERROR_ON_ALL(DisagreementError,
                        write_hdf5(directory / "a.h5", "x", context.rank() == 0 ? other : array), "array: ");
  }
  EXPECT_EQ(directory.entries(), 0U);
}

RANK_TEST(Hdf5Files, RanksThatWantDifferentDatasetsHearOfIt) {
  if (context.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  const Array array = known(context, {6, 2});
  write_hdf5(path, {{"a", array}, {"b", array}});
  const bool first = context.rank() == 0;
  EXPECT_ERROR_ON_ALL(DisagreementError, read_hdf5(context, path, first ? "a" : "b", Slab(0)),
                      "dataset: a on rank 0; b on rank");
  std::vector<Hdf5Dataset> datasets{{"c", array}};
  if (first) datasets.push_back({"d", array});
  EXPECT_ERROR_ON_ALL(DisagreementError, write_hdf5(path, datasets), "dataset: c, d on rank 0; c on rank");
  datasets.resize(1);
  datasets.push_back({"d", array, {.truncate = first}});
  EXPECT_ERROR_ON_ALL(DisagreementError, write_hdf5(path, datasets),
                      "truncate of \"d\": yes on rank 0; no on rank");
  EXPECT_EQ(names_in(path), (std::vector<std::string>{"a", "b"}));
}

/// What looks alike.
RANK_TEST(Hdf5Files, AttributesOfOtherKindsDisagree) {
  if (context.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const SharedDirectory directory(context);
  const std::string path = directory / "a.h5";
  write_hdf5(path, "data", known(context, {4}));
  using Values = std::vector<Hdf5Attributes>;
  const Values of_one{{{"x", std::int64_t{1}}},
                      {{"x", std::vector<std::int64_t>{}}},
                      {{"x", std::vector<std::int64_t>{1}}},
                      {{"x", std::string("a y=b")}}};
  const Values of_others{{{"x", 1.0}},
                         {{"x", std::vector<double>{}}},
                         {{"x", std::vector<double>{1}}},
                         {{"x", std::string("a")}, {"y", std::string("b")}}};
  for (std::size_t i = 0; i < of_one.size(); ++i) {
    const Hdf5Attributes& attributes = (context.rank() == 1 ? of_one : of_others)[i];
    EXPECT_THROW(write_hdf5_attributes(context, path, "data", attributes), DisagreementError) << i;
  }
  const Hdf5Attributes number{{"x", std::int64_t{1}}}, text{{"x", std::string("1")}};
  EXPECT_THROW(write_hdf5_attributes(context, path, "data", context.rank() == 1 ? number : text),
               DisagreementError);
  EXPECT_TRUE(read_hdf5_attributes(path, "data").empty());
}

}  // namespace
}  // namespace partita::testing
