// Files: every dtype, order and distribution, against bytes computed here; whole or not at all.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>

#include "support/models/random_layouts.hpp"
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

RANK_TEST(Files, RoundTripOfEveryDtypeAndOrder) {
  const SharedDirectory directory(context);
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()));
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<Dtype>(d);
    const Shape shape = random.shape(random.number(1, 3), 12);
    Array array = empty(
        context, shape,
        BlockCyclic(ProcessGrid(Extents::filled(shape.size(), 1)), Extents::filled(shape.size(), 2)), dtype);
    write_known(array);
    for (const Order order : {Order::row_major, Order::column_major}) {
      write_npy(directory / "a.npy", array, order);
      const FileHeader header = inspect_npy(directory / "a.npy");
      EXPECT_EQ(header.shape, shape);
      EXPECT_EQ(header.dtype, dtype);
      EXPECT_EQ(header.order, order);
      const Array back = read_npy(context, directory / "a.npy", Slab(shape.size() - 1));
      EXPECT_EQ(count_wrong(back, array.layout()), 0) << name(dtype) << " " << to_string(shape);
    }
    write_hdf5(directory / "a.h5", "group/data", array);
    EXPECT_EQ(inspect_hdf5(directory / "a.h5", "group/data").dtype, dtype);
    const Array back = read_hdf5(context, directory / "a.h5", "group/data", Replicated());
    EXPECT_EQ(count_wrong(back, array.layout()), 0) << name(dtype) << " " << to_string(shape);
  }
}

// As ml_dtypes writes them.
RANK_TEST(Files, NpyNamesOfWhatNumPyLacks) {
  const SharedDirectory directory(context);
  const std::tuple<Dtype, const char*, const char*> known[] = {
      {Dtype::bf16, "'<V2'", "'<V2'"}, {Dtype::f8e4m3, "'|V1'", "'<V1'"}, {Dtype::f8e5m2, "'|f1'", "'<f1'"}};
  for (const auto& [dtype, written, theirs] : known) {
    Array array = empty(context, {5, 3}, Slab(0), dtype);
    write_known(array);
    write_npy(directory / "a.npy", array);
    std::string bytes;
    {
      std::ifstream file(directory / "a.npy", std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const std::size_t at = bytes.find(written);
    ASSERT_NE(at, std::string::npos) << name(dtype);
    context.barrier();
    if (context.rank() == 0)
      std::ofstream(directory / "b.npy", std::ios::binary) << bytes.replace(at, 5, theirs);
    context.barrier();
    EXPECT_EQ(count_wrong(read_npy(context, directory / "b.npy", Slab(1)), array.layout()), 0);
  }
}

// The bytes of a .npy file are what NumPy's format says, computed here by hand.
RANK_TEST(Files, NpyBytesAreAsTheFormatSays) {
  const SharedDirectory directory(context);
  Array array = empty(context, {2, 3}, Slab(1), Dtype::u8);
  write_values(array, [](std::int64_t number) { return static_cast<double>(number); });
  write_npy(directory / "a.npy", array);
  std::ifstream file(directory / "a.npy", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(bytes.size(), 128U + 6U);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(bytes.substr(8, 2), std::string("\x76\x00", 2));
  EXPECT_EQ(bytes.substr(10, 62), "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }   ");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128), std::string("\x00\x01\x02\x03\x04\x05", 6));
}

RANK_TEST(Files, BigEndianElementsAreRead) {
  const SharedDirectory directory(context);
  const std::string path = directory / "big.npy";
  for (const Dtype dtype : {Dtype::i16, Dtype::f32, Dtype::f64, Dtype::c64}) {
    Array array = empty(context, {5, 3}, Slab(0), dtype);
    write_known(array);
    write_npy(path, array);
    context.barrier();
    if (context.rank() == 0) {
      std::ifstream file(path, std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(file)), {});
      bytes[bytes.find('<')] = '>';
      const auto number = static_cast<std::ptrdiff_t>(size_of(dtype) / (is_complex(dtype) ? 2 : 1));
      for (auto at = bytes.begin() + 128; at != bytes.end(); at += number) std::reverse(at, at + number);
      overwrite(path, bytes);
    }
    context.barrier();
    EXPECT_EQ(inspect_npy(path).dtype, dtype);
    EXPECT_EQ(count_wrong(read_npy(context, path, Slab(1)), array.layout()), 0) << name(dtype);
  }
}

RANK_TEST(Files, EveryDistributionReadsAndWrites) {
  const SharedDirectory directory(context);
  RandomLayouts random(static_cast<std::uint64_t>(pairs_seed()) + 1);
  for (int i = 0; i < 20; ++i) {
    const Shape shape = random.shape(random.number(1, 4), 9);
    Layout layout = random.layout(shape, context.size());
    Array array = empty(context, layout, Dtype::f64);
    write_known(array);
    if (layout.partial()) {
      EXPECT_THROW(write_npy(directory / "b.npy", array), ArgumentError);
      continue;
    }
    write_npy(directory / "b.npy", array, random.maybe() ? Order::row_major : Order::column_major);
    Distribution other = random.distribution(shape, context.size());
    const Array back = read_npy(context, directory / "b.npy", other,
                                {.residency = Residency::ordinary, .order = Order::column_major});
    EXPECT_EQ(count_wrong(back, layout), 0) << layout.to_string() << " -> " << other.to_string();
  }
}

RANK_TEST(Files, ScalarsHaveFilesToo) {
  const SharedDirectory directory(context);
  Array array = empty(context, Shape{}, Replicated(), Dtype::f64);
  write_known(array);
  write_npy(directory / "s.npy", array);
  write_hdf5(directory / "s.h5", "s", array);
  EXPECT_EQ(count_wrong(read_npy(context, directory / "s.npy", Replicated()), array.layout()), 0);
  EXPECT_EQ(count_wrong(read_hdf5(context, directory / "s.h5", "s", Replicated()), array.layout()), 0);
}

RANK_TEST(Files, BadFilesAreNamed) {
  const SharedDirectory directory(context);
  const std::string path = directory / "bad.npy";
  const auto read = [&] { (void)read_npy(context, path, Slab(0)); };
  const auto put = [&](const std::string& bytes) {
    context.barrier();
    if (context.rank() == 0) overwrite(path, bytes);
    context.barrier();
  };
  EXPECT_ERROR_ON_ALL(FileError, read(), "No such file");
  put("");
  EXPECT_ERROR_ON_ALL(FileError, read(), "not a .npy file");
  put("this is some other file, longer than ten bytes");
  EXPECT_ERROR_ON_ALL(FileError, read(), "not a .npy file");
  Array array = empty(context, {30, 3}, Slab(0), Dtype::f64);
  write_known(array);
  write_npy(path, array);
  context.barrier();
  if (context.rank() == 0) fs::resize_file(path, fs::file_size(path) - 1);
  context.barrier();
  EXPECT_ERROR_ON_ALL(FileError, read(), "truncated");
  put(std::string("\x93NUMPY\x01\x00\x76\x00{'descr': '<U8', 'fortran_order': False, 'shape': (3,), }", 67) +
      std::string(200, ' '));
  EXPECT_ERROR_ON_ALL(FileError, read(), "not supported");
  const auto put_type = [&](const std::string& descr) {
    std::string header = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (3,), }}", descr);
    header.resize(118, ' ');
    put(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(200, ' '));
  };
  for (const auto& [descr, cure] : std::initializer_list<std::pair<const char*, const char*>>{
           {"'|O'", "type |O are not supported (Python objects"},
           {"'<U8'", "type <U8 are not supported (strings"},
           {"'|S3'", "type |S3 are not supported (strings"},
           {"'<M8[ns]'", "type <M8[ns] are not supported (times: save array.view('int64'))"},
           {"'>f16'", "type >f16 are not supported (save array.astype('float64')"},
           {"[('x', '<f8'), ('y', [('z', '<i4', (2,))])]",
            "structured NumPy type [('x', '<f8'), ('y', [('z', '<i4', (2,))])] are not supported (save "
            "each"}}) {
    put_type(descr);
    EXPECT_ERROR_ON_ALL(FileError, read(), cure);
  }
  const auto put_header = [&](const std::string& order, const std::string& shape) {
    std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': {}, 'shape': {}, }}", order, shape);
    header.resize(118, ' ');
    put(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string(200, ' '));
  };
  for (const char* shape : {"(1099511627776, 1099511627776)", "(2305843009213693952,)"}) {
    put_header("False", shape);
    EXPECT_ERROR_ON_ALL(FileError, read(), "bad.npy: the shape");
  }
  put_header("Maybe", "(3,)");
  EXPECT_ERROR_ON_ALL(FileError, read(), "neither True nor False but \"Maybe");
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "x", Slab(0)), "HDF5");
  EXPECT_ERROR_ON_ALL(FileError, write_npy(directory / "no/such/folder.npy", array), "No such file");
}

/// Whatever NumPy reads: either quotes, byte orders that need none, keys in any order, and what Python 2
/// wrote.
RANK_TEST(Files, NpyHeadersOfOtherWriters) {
  const SharedDirectory directory(context);
  const std::string path = directory / "a.npy";
  const auto read = [&](std::string_view header, std::string_view bytes) {
    std::string whole("\x93NUMPY\x01\x00\x76\x00", 10);
    whole.append(header).resize(127, ' ');
    whole.append("\n").append(bytes);
    context.barrier();
    if (context.rank() == 0) overwrite(path, whole);
    context.barrier();
    return read_npy(context, path, Replicated());
  };
  const double numbers[] = {1.5, -2, 1e300};
  const std::string bytes(reinterpret_cast<const char*>(numbers), sizeof numbers);
  for (const char* header : {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
                             R"({"descr": "<f8", "fortran_order": False, "shape": (3,)})",
                             "{'descr': '=f8', 'fortran_order': False, 'shape': (3,)}",
                             "{'descr': '|f8', 'fortran_order': False, 'shape': (3,)}",
                             R"({'shape': (3,), "fortran_order":True,"descr" : "f8"})",
                             "{'descr': u'<f8',\n 'fortran_order': False,\n 'shape': (3L,)}"}) {
    const Array array = read(header, bytes);
    ASSERT_EQ(array.shape(), Shape({3})) << header;
    ASSERT_EQ(array.dtype(), Dtype::f64) << header;
    EXPECT_TRUE(std::equal(numbers, numbers + 3, array.data<double>())) << header;
  }
  for (const char* descr : {"?", "|?", "|b1", "b1"}) {
    const Array truths = read(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (4,)}}", descr),
                              "\x02\x01\x80\xff");
    EXPECT_EQ(truths.dtype(), Dtype::boolean);
    EXPECT_EQ(sum<int>(truths), 4) << descr;
    // Also in memory, where C++ would read another byte as no bool at all.
    EXPECT_EQ(std::memcmp(truths.local().data, "\x01\x01\x01\x01", 4), 0);
  }
}

/// The temporary file next to a file has a name that is no longer than names may be.
RANK_TEST(Files, NamesAsLongAsTheyMayBe) {
  const SharedDirectory directory(context);
  Array array = empty(context, {4, 3}, Slab(0), Dtype::i32);
  write_known(array);
  for (const char* suffix : {".npy", ".h5"}) {
    const std::string name = directory / fmt::format("{:x>255}", suffix);
    for (int again = 0; again < 2; ++again) {
      std::string_view(suffix) == ".npy" ? write_npy(name, array) : write_hdf5(name, "a", array);
    }
    const Array back = std::string_view(suffix) == ".npy" ? read_npy(context, name, Slab(1))
                                                          : read_hdf5(context, name, "a", Slab(1));
    EXPECT_EQ(count_wrong(back, array.layout()), 0);
  }
  const std::string longer = directory / fmt::format("{:x>256}", ".npy");
  EXPECT_ERROR_ON_ALL(FileError, write_npy(longer, array), "File name too long");
}

/// A path that the system would read otherwise is refused.
RANK_TEST(Files, PathsAreWholeAndNotEmpty) {
  const SharedDirectory directory(context);
  const Array array = zeros(context, {4}, Slab(0), Dtype::f64);
  const std::string half = directory / std::string("a\0b.npy", 7);
  EXPECT_ERROR_ON_ALL(FileError, write_npy(half, array), "zero byte");
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(half, "data", array), "zero byte");
  EXPECT_ERROR_ON_ALL(FileError, read_npy(context, half, Slab(0)), "zero byte");
  EXPECT_ERROR_ON_ALL(FileError, list_hdf5(half), "zero byte");
  EXPECT_ERROR_ON_ALL(FileError, write_npy("", array), "no path");
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5("", "data", array), "no path");
  EXPECT_ERROR_ON_ALL(FileError, read_npy(context, "", Slab(0)), "no path");
  EXPECT_EQ(directory.entries(), 0U);
}

RANK_TEST(Files, MissingDatasetIsNamed) {
  const SharedDirectory directory(context);
  Array array = empty(context, {4}, Slab(0), Dtype::f64);
  write_known(array);
  write_hdf5(directory / "a.h5", "there", array);
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, directory / "a.h5", "elsewhere", Slab(0)),
                      "a.h5: there is no \"elsewhere\"; the file has there");
  const std::string half = std::string("there") + '\0' + "beside";  // HDF5 would read "there"
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, directory / "a.h5", half, Slab(0)),
                      "\"there\" contains a zero");
  EXPECT_THROW(read_hdf5_attributes(directory / "a.h5", half), FileError);
}

/// A device that throws away what it gets, in the directory; false where there can be none.
bool make_null_device(Context& context, const std::string& path) {
  std::string made;
  if (context.rank() == 0 && ::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0 &&
      ::access(path.c_str(), W_OK) == 0 && std::ofstream(path).is_open()) {
    made = "made";
  }
  return runtime::exchange(*context.state(), "test", made).front() == "made";
}

RANK_TEST(Files, ADeviceIsNeverReplaced) {
  const SharedDirectory directory(context);
  const std::string device = directory / "null.npy";
  if (!make_null_device(context, device)) GTEST_SKIP() << "no devices can be made here";
  Array array = empty(context, {31, 5}, Slab(1), Dtype::f64);
  write_known(array);
  write_npy(device, array);
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(device, "data", array), "name a regular file");
  context.barrier();
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(directory.entries(), 1U);
}

RANK_TEST(Files, PipesAndDirectoriesAreRefused) {
  const SharedDirectory directory(context);
  Array array = empty(context, {31, 5}, Slab(1), Dtype::f64);
  write_known(array);
  int reader = -1;
  if (context.rank() == 0) {
    EXPECT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
    fs::create_directory(directory / "folder");
    reader = ::open((directory / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  context.barrier();
  // Nobody writes into it: who waited for that would wait for ever.
  EXPECT_ERROR_ON_ALL(FileError, read_npy(context, directory / "pipe", Slab(0)), "not a regular file");
  EXPECT_ERROR_ON_ALL(FileError, list_hdf5(directory / "pipe"), "not a regular file");
  EXPECT_ERROR_ON_ALL(FileError, list_hdf5(directory / "folder"), "not a regular file");
  EXPECT_ERROR_ON_ALL(FileError, write_npy(directory / "pipe", array), "several ranks");
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(directory / "pipe", "data", array), "name a regular file");
  EXPECT_ERROR_ON_ALL(FileError, write_npy(directory / "folder", array), "directory");
  EXPECT_ERROR_ON_ALL(FileError, write_hdf5(directory / "folder", "data", array), "directory");
  context.barrier();
  if (reader >= 0) ::close(reader);
  EXPECT_TRUE(fs::is_fifo(directory / "pipe"));
  EXPECT_EQ(directory.entries(), 2U);
}

RANK_TEST(Files, LinksAndPermissionsStay) {
  const SharedDirectory directory(context);
  Array array = empty(context, {31, 5}, Slab(1), Dtype::f64);
  write_known(array);
  for (const bool is_npy : {true, false}) {
    const std::string file = directory / (is_npy ? "a.npy" : "a.h5");
    context.barrier();
    if (context.rank() == 0) {
      overwrite(file, "old");
      fs::permissions(file, fs::perms(0600));
      fs::create_symlink(file, file + ".link");
      fs::create_symlink("new-" + fs::path(file).filename().string(), file + ".dangling");
    }
    context.barrier();
    for (const char* link : {".link", ".dangling"}) {
      is_npy ? write_npy(file + link, array) : write_hdf5(file + link, "data", array, {.truncate = true});
      context.barrier();
      EXPECT_TRUE(fs::is_symlink(file + link));
      const std::string target = fs::canonical(file + link).string();
      const Array back =
          is_npy ? read_npy(context, target, Slab(0)) : read_hdf5(context, target, "data", Slab(0));
      EXPECT_EQ(count_wrong(back, array.layout()), 0);
    }
    EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
  }
  EXPECT_EQ(directory.entries(), 8U);
}

// A limit on file sizes represents a full disk: the write fails in the middle, the old file stays, nothing is
// left.
RANK_TEST(Files, RanksThatWriteDifferentThingsHearOfIt) {
  if (context.size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const SharedDirectory directory(context);
  const Array array = zeros(context, {6, 2}, Slab(0), Dtype::f64);
  const bool first = context.rank() == 0;
  EXPECT_ERROR_ON_ALL(DisagreementError,
                      write_npy(directory / "a.npy", array, first ? Order::row_major : Order::column_major),
                      "order");
  EXPECT_ERROR_ON_ALL(DisagreementError, write_npy(directory / (first ? "a.npy" : "b.npy"), array), "path");
  EXPECT_EQ(directory.entries(), 0U);
}

RANK_TEST(Files, AFailedWriteLeavesTheOldFile) {
  const SharedDirectory directory(context);
  Array small = empty(context, {4}, Slab(0), Dtype::f64);
  write_known(small);
  write_npy(directory / "a.npy", small);
  Array large = empty(context, {100000}, Slab(0), Dtype::f64);
  write_known(large);
  context.barrier();
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit limit { 200000, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &limit);
  for (const char* format : {"npy", "h5"}) {
    EXPECT_ERROR_ON_ALL(FileError,
                        format[0] == 'n' ? write_npy(directory / "a.npy", large)
                                         : write_hdf5(directory / "a.npy", "data", large),
                        "");
  }
  context.barrier();
  ::setrlimit(RLIMIT_FSIZE, &before);
  context.barrier();
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_EQ(count_wrong(read_npy(context, directory / "a.npy", Slab(0)), small.layout()), 0);
}

}  // namespace
}  // namespace partita::testing
