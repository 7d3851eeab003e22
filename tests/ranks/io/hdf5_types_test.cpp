// Element types that other programs write: complex numbers of many kinds are read as such, other pairs are
// refused. The files are made byte by byte.
#include "io/hdf5_library.hpp"
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"

namespace partita::testing {
namespace {

constexpr std::int64_t elements = 11;

struct Member {
  const char* name;
  hid_t type;
  std::size_t offset;
};

double real_part(std::int64_t number) {
  return static_cast<double>(number) + 0.5;
}
double imaginary_part(std::int64_t number) {
  return -2.0 * static_cast<double>(number) - 1;
}

void store(char* to, hid_t type, double value) {
  const std::size_t bytes = H5Tget_size(type);
  const auto narrow = static_cast<float>(value);
  bytes == 4 ? std::memcpy(to, &narrow, 4) : std::memcpy(to, &value, std::min<std::size_t>(bytes, 8));
  if (H5Tget_order(type) == H5T_ORDER_BE) std::reverse(to, to + bytes);
}

io::Hdf5Handle compound(const std::string& path, const std::vector<Member>& members, std::size_t bytes) {
  io::Hdf5Handle type(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose, path, "compound");
  for (const Member& member : members)
    io::check_hdf5(H5Tinsert(type, member.name, member.offset, member.type), path, "member");
  return type;
}

/// A file with the dataset "data" of these bytes, as they are.
void write_bytes(const std::string& path, hid_t type, hid_t space, const void* bytes) {
  const io::Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, path,
                            "file");
  const io::Hdf5Handle dataset(H5Dcreate2(file, "data", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                               H5Dclose, path, "dataset");
  if (bytes != nullptr)
    io::check_hdf5(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), path, "write");
}

io::Hdf5Handle line_of(const std::string& path) {
  const hsize_t extent = elements;
  return {H5Screate_simple(1, &extent, nullptr), H5Sclose, path, "space"};
}

/// The member that `real` names gets the real parts, all others the imaginary ones; padding is not zero.
void write_pairs(const std::string& path, const std::vector<Member>& members, std::size_t bytes,
                 const std::string& real) {
  std::string content(bytes * elements, '\x55');
  for (std::int64_t i = 0; i < elements; ++i) {
    for (const Member& member : members) {
      store(content.data() + static_cast<std::size_t>(i) * bytes + member.offset, member.type,
            member.name == real ? real_part(i) : imaginary_part(i));
    }
  }
  write_bytes(path, compound(path, members, bytes), line_of(path), content.data());
}

/// Rank 0 makes the file, under HDF5's lock.
template <class Make>
void by_first_rank(Context& context, Make&& make) {
  context.barrier();
  if (context.rank() == 0) {
    const io::Hdf5Lock lock;
    make();
  }
  context.barrier();
}

template <class T>
void expect_pairs(const Array& array, const char* what) {
  each_element(array, [&](std::int64_t number, auto& element) {
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, T>) {
      using Part = typename T::value_type;
      EXPECT_EQ(element, T(static_cast<Part>(real_part(number)), static_cast<Part>(imaginary_part(number))))
          << what << " " << number;
    }
  });
}

void expect_complex(Context& context, const std::vector<Member>& members, std::size_t bytes,
                    const std::string& real, Dtype dtype) {
  const SharedDirectory directory(context);
  const std::string path = directory / "pairs.h5";
  by_first_rank(context, [&] { write_pairs(path, members, bytes, real); });
  EXPECT_EQ(inspect_hdf5(path, "data").dtype, dtype) << real;
  const Array array = read_hdf5(context, path, "data", Slab(0));
  ASSERT_EQ(array.dtype(), dtype) << real;
  dtype == Dtype::c64 ? expect_pairs<std::complex<float>>(array, real.c_str())
                      : expect_pairs<std::complex<double>>(array, real.c_str());
}

RANK_TEST(Hdf5Types, ComplexNumbersGoByTheNamesOfTheirParts) {
  expect_complex(context, {{"r", H5T_IEEE_F32LE, 0}, {"i", H5T_IEEE_F32LE, 4}}, 8, "r", Dtype::c64);
  expect_complex(context, {{"real", H5T_IEEE_F64LE, 0}, {"imag", H5T_IEEE_F64LE, 8}}, 16, "real",
                 Dtype::c128);
  expect_complex(context, {{"re", H5T_IEEE_F64LE, 0}, {"im", H5T_IEEE_F64LE, 8}}, 16, "re", Dtype::c128);
  expect_complex(context, {{"Re", H5T_IEEE_F32LE, 0}, {"IM", H5T_IEEE_F32LE, 4}}, 8, "Re", Dtype::c64);
}

RANK_TEST(Hdf5Types, ComplexNumbersOfOtherOrdersAndSizes) {
  expect_complex(context, {{"Real", H5T_IEEE_F64BE, 0}, {"Imag", H5T_IEEE_F64BE, 8}}, 16, "Real",
                 Dtype::c128);
  expect_complex(context, {{"i", H5T_IEEE_F32LE, 0}, {"r", H5T_IEEE_F32LE, 4}}, 8, "r", Dtype::c64);
  expect_complex(context, {{"imag", H5T_IEEE_F32BE, 4}, {"real", H5T_IEEE_F32BE, 16}}, 24, "real",
                 Dtype::c64);
  expect_complex(context, {{"re", H5T_IEEE_F32LE, 8}, {"im", H5T_IEEE_F32LE, 0}}, 16, "re", Dtype::c64);
}

RANK_TEST(Hdf5Types, OtherCompoundsAreRefused) {
  struct Case {
    std::vector<Member> members;
    std::size_t bytes;
    const char* word;
  };
  const std::vector<Case> cases{
      {{{"x", H5T_IEEE_F32LE, 0}, {"y", H5T_IEEE_F32LE, 4}}, 8, "{x, y} is not a complex number"},
      {{{"real", H5T_IEEE_F64LE, 0}, {"i", H5T_IEEE_F64LE, 8}}, 16, "{real, i} is not a complex number"},
      {{{"r", H5T_IEEE_F32LE, 0}, {"i", H5T_IEEE_F64LE, 8}}, 16, "not two equal floats"},
      {{{"r", H5T_IEEE_F32LE, 0}, {"i", H5T_IEEE_F32BE, 4}}, 8, "not two equal floats"},
      {{{"r", H5T_STD_I32LE, 0}, {"i", H5T_STD_I32LE, 4}}, 8, "not two equal floats"},
      {{{"r", H5T_IEEE_F32LE, 0}, {"i", H5T_IEEE_F32LE, 4}, {"w", H5T_IEEE_F32LE, 8}}, 12, "{r, i, w}"},
      {{{"r", H5T_IEEE_F64LE, 0}}, 8, "{r}"},
  };
  const SharedDirectory directory(context);
  const std::string path = directory / "pairs.h5";
  for (const Case& one : cases) {
    by_first_rank(context, [&] { write_pairs(path, one.members, one.bytes, "r"); });
    EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "data", Slab(0)), one.word);
  }
}

RANK_TEST(Hdf5Types, OnlyTruthsAreBooleans) {
  const SharedDirectory directory(context);
  const auto path = [&](bool truths) { return directory / (truths ? "truths.h5" : "colours.h5"); };
  by_first_rank(context, [&] {
    for (const bool truths : {true, false}) {
      const std::string& file = path(truths);
      const io::Hdf5Handle type(H5Tenum_create(H5T_STD_I8BE), H5Tclose, file, "enumeration");
      const signed char yes = 1, no = 0;
      H5Tenum_insert(type, truths ? "TRUE" : "RED", &yes);
      H5Tenum_insert(type, truths ? "FALSE" : "GREEN", &no);
      std::array<signed char, elements> values{};
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? yes : no;
      write_bytes(file, type, line_of(file), values.data());
    }
  });
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path(false), "data", Slab(0)),
                      "{RED, GREEN} is not a boolean");
  const Array array = read_hdf5(context, path(true), "data", Slab(0));
  ASSERT_EQ(array.dtype(), Dtype::boolean);
  each_element(array, [&](std::int64_t number, auto& element) {
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, bool>) {
      EXPECT_EQ(element, number % 3 == 0);
    }
  });
}

/// Sign, exponent, mantissa; with infinities and subnormal numbers as IEEE's have them.
io::Hdf5Handle float_of_one_byte(const std::string& path, std::size_t exponent_bits, std::size_t bias) {
  io::Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, path, "float");
  H5Tset_fields(type, 7, 7 - exponent_bits, exponent_bits, 0, 7 - exponent_bits);
  H5Tset_size(type, 1);
  H5Tset_ebias(type, bias);
  return type;
}

// Every bit of them: E4M3 has no infinities, which HDF5 does not know.
RANK_TEST(Hdf5Types, FloatsOfOneByte) {
  struct Case {
    std::size_t exponent_bits, bias;
    std::optional<Dtype> dtype;
  };
  const SharedDirectory directory(context);
  const std::string path = directory / "bytes.h5";
  for (const Case& one : {Case{4, 7, Dtype::f8e4m3}, Case{5, 15, Dtype::f8e5m2}, Case{4, 8, std::nullopt},
                          Case{3, 3, std::nullopt}}) {
    std::array<std::uint8_t, elements> bytes{0, 1, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0xfc, 0xff, 0x38};
    by_first_rank(context, [&] {
      write_bytes(path, float_of_one_byte(path, one.exponent_bits, one.bias), line_of(path), bytes.data());
    });
    if (!one.dtype) {
      EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "data", Slab(0)), "other than E4M3 and E5M2");
      continue;
    }
    const Array array = read_hdf5(context, path, "data", Slab(0));
    EXPECT_EQ(array.dtype(), *one.dtype);
    each_element(array, [&](std::int64_t number, auto& element) {
      EXPECT_EQ(std::memcmp(&element, &bytes[static_cast<std::size_t>(number)], 1), 0) << number;
    });
  }
}

RANK_TEST(Hdf5Types, ADatasetWithoutShapeIsNoScalar) {
  const SharedDirectory directory(context);
  const std::string path = directory / "empty.h5";
  by_first_rank(context, [&] {
    const io::Hdf5Handle space(H5Screate(H5S_NULL), H5Sclose, path, "space");
    write_bytes(path, H5T_IEEE_F64LE, space, nullptr);
  });
  EXPECT_ERROR_ON_ALL(FileError, read_hdf5(context, path, "data", Replicated()), "H5S_NULL");
  EXPECT_THROW((void)inspect_hdf5(path, "data"), FileError);
}

}  // namespace
}  // namespace partita::testing
