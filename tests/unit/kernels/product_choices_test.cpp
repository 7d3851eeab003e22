// Which ways of making products are kept, where, and on which the ranks agree.
#include "device/product_choices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "support/test.hpp"

namespace partita::devices {
namespace {

std::string file_for_test(const char* name) {
  return (std::filesystem::temp_directory_path() / fmt::format("{}-{}.products", name, ::getpid())).string();
}

TEST(ProductChoices, AreLinesOfText) {
  ProductChoices choices;
  EXPECT_TRUE(choices.empty());
  choices.keep("a b", "1 2");
  choices.keep("c", "3");
  choices.keep("c", "4");
  EXPECT_EQ(choices.text(), "a b\t1 2\nc\t4\n");
  ProductChoices others;
  others.keep("c", "5");
  others.add(choices.text() + "no tab\n\tno product\nno way\t\nd\t6", true);
  EXPECT_EQ(others.text(), "a b\t1 2\nc\t5\nd\t6\n");
  others.add(choices.text(), false);
  EXPECT_EQ(others.find("c"), "4");
  EXPECT_EQ(others.find("e"), "");
}

TEST(ProductChoices, NumbersAreReadAsTheyWereWritten) {
  const std::array<std::uint64_t, 3> numbers{0, 0xfedcba9876543210, 42};
  std::array<std::uint64_t, 3> read{};
  EXPECT_TRUE(read_words(words_of(numbers), read));
  EXPECT_EQ(read, numbers);
  for (const char* const text : {"", "1 2", "1 2 3 4", "1 2 x"}) EXPECT_FALSE(read_words(text, read)) << text;
}

TEST(ProductChoices, WordsTellProductsApart) {
  DeviceGemm one;
  one.m = 8, one.n = 9, one.k = 10;
  std::vector<DeviceGemm> others(10, one);
  others[0].m = 9, others[1].n = 8, others[2].k = 11;
  others[3].a.dtype = Dtype::f32, others[4].a.leading = 16, others[5].b.op = BlasOp::transpose;
  others[6].batches = 2, others[7].alignment = 256, others[8].stride = 72;
  others[9].compute = ComputeType::tf32;
  for (const DeviceGemm& other : others) EXPECT_NE(words_of(other), words_of(one));
  EXPECT_EQ(words_of(one).find_first_of("\t\n"), std::string::npos);
}

TEST(ProductChoices, TheFirstRankThatHasOneDecides) {
  ChoicesOfContext choices;
  choices.keep("agreed: mine", "2");
  EXPECT_EQ(choices.news(), "agreed: mine\t2\n");
  EXPECT_EQ(choices.news(), "");
  const std::array<std::string, 3> news{"", "agreed: theirs\t7\n", "agreed: mine\t2\nagreed: theirs\t8\n"};
  choices.agree(news);
  EXPECT_EQ(choices.find("agreed: theirs"), "7");
  EXPECT_EQ(choices.find("agreed: mine"), "2");
  EXPECT_EQ(choices.news(), "");
  // Another context of the process knows what was tried here, and tells its own ranks.
  ChoicesOfContext other;
  EXPECT_EQ(other.find("agreed: mine"), "2");
  EXPECT_EQ(other.find("agreed: theirs"), "");
  EXPECT_EQ(other.news(), "agreed: mine\t2\n");
}

TEST(ProductChoices, AreReadFromAFileAndWrittenThere) {
  const std::string file = file_for_test("choices");
  std::ofstream(file) << "file: known\t1\n";
  {
    const ChoicesFile kept(file);
    ChoicesOfContext choices;
    EXPECT_EQ(choices.find("file: known"), "1");
    choices.keep("file: new", "2");
    std::ofstream(file, std::ios::app) << "file: of another process\t3\n";
  }
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const char* const line : {"file: known\t1\n", "file: new\t2\n", "file: of another process\t3\n"})
    EXPECT_TRUE(contains(text, line)) << text;
  std::filesystem::remove(file);
  { const ChoicesFile nothing_new(file); }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ProductChoices, AFileThatCannotBeWrittenIsNoError) {
  const ChoicesFile kept("/nowhere/at/all");
  ChoicesOfContext().keep("file: lost", "1");
}

}  // namespace
}  // namespace partita::devices
