#include "support/test.hpp"

namespace partita {
namespace {

template <class Option>
void expect_words(Option last) {
  EXPECT_EQ(words_of<Option>().size(), static_cast<std::size_t>(last) + 1);
  int number = 0;
  for (const std::string_view word : words_of<Option>()) {
    const auto option = static_cast<Option>(number++);
    EXPECT_EQ(name(option), word);
    EXPECT_EQ(parse<Option>(word), option);
    std::string with_underscores(word);
    for (char& letter : with_underscores) letter = letter == '-' ? '_' : letter;
    EXPECT_EQ(parse<Option>(with_underscores), option);
  }
  EXPECT_EQ(name(static_cast<Option>(number)), "unknown");
}

TEST(Names, OfEachOptionAreParsed) {
  expect_words(RedistributeMethod::grouped);
  expect_words(Op::conjugate);
  expect_words(Epilogue::bias_gradient_b);
  expect_words(MatmulMethod::communication_avoiding);
  expect_words(ScaleMode::block16_ue4m3);
  expect_words(ComputeType::i32);
  expect_words(FftKind::dst4);
  expect_words(Norm::forward);
  expect_words(FftMethod::four_step);
  expect_words(FftExchange::stores);
  expect_words(Output::given);
  expect_words(Order::column_major);
  expect_words(Residency::ordinary);
  expect_words(MemorySpace::device);
  expect_words(Uneven::balanced);
  expect_words(LogLevel::off);
  expect_words(CrossMemory::allow);
  expect_words(DeviceHeap::nvshmem);
  expect_words(DeviceCollectives::library);
  expect_words(DeviceMessages::direct);
  expect_words(CopyWay::kernel);
}

TEST(Names, AnErrorListsTheWords) {
  const auto refusal = [](std::string_view word) {
    return caught<ArgumentError>([&] { (void)parse<FftMethod>(word); });
  };
  EXPECT_EQ(
      refusal("four step"),
      "method of a transform \"four step\" is not known; known: automatic, local, slab, pencil, four-step");
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("sla"), "");
}

}  // namespace
}  // namespace partita
