#include <unistd.h>

#include <nlohmann/json.hpp>

#include "plan/shipped_machines.hpp"
#include "support/test.hpp"

namespace partita {
namespace {

namespace fs = std::filesystem;

class MachineFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("partita-machine-test-" + std::to_string(::getpid()));
    fs::create_directories(directory_);
  }
  void TearDown() override {
    ::unsetenv("PARTITA_MACHINES");
    fs::remove_all(directory_);
  }
  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::string refusal(const std::string& text) {
    return caught<ArgumentError>([&] { (void)Machine::read(write("machine.json", text)); });
  }
  fs::path directory_;
};

TEST(Machine, ShippedOnesAreFoundByName) {
  EXPECT_EQ(Machine::shipped(), (std::vector<std::string>{"laptop", "node-4-h200", "node-8-gpu", "cluster"}));
  for (const std::string& name : Machine::shipped()) EXPECT_EQ(Machine::find(name).name, name);
  EXPECT_EQ(Machine::find("laptop").copy_bandwidth, 12e9);
  EXPECT_EQ(Machine::find("laptop").node_copy_bandwidth, 20e9);
  EXPECT_EQ(Machine::find("node-8-gpu").peer_bandwidth, 390e9);
  EXPECT_EQ(Machine::find("node-4-h200").bus_bandwidth, 50e9);
  EXPECT_EQ(Machine::find("cluster").ranks_per_node, 64);
}

// The templates in machines/ and what is compiled in are the same text.
TEST(Machine, ShippedOnesAgreeWithTheirFiles) {
  const fs::path directory = fs::path(__FILE__).parent_path() / "../../../machines";
  if (!fs::exists(directory)) GTEST_SKIP() << "the source tree is not here";
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(directory)) files += entry.path().extension() == ".json";
  EXPECT_EQ(files, planning::shipped_machines.size());
  for (const planning::ShippedMachine& machine : planning::shipped_machines) {
    std::ifstream file(directory / (std::string(machine.name) + ".json"));
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), machine.json) << machine.name;
  }
}

TEST(Machine, HereIsWhatTheEnvironmentNames) {
  unsetenv("PARTITA_MACHINE");
  EXPECT_EQ(Machine::here().name, "laptop");
  setenv("PARTITA_MACHINE", "cluster", 1);
  EXPECT_EQ(to_string(Machine::here()), to_string(Machine::find("cluster")));
  setenv("PARTITA_MACHINE", "abacus", 1);
  EXPECT_THROW((void)Machine::here(), ArgumentError);
  unsetenv("PARTITA_MACHINE");
}

TEST(Machine, TextsTellFiguresApart) {
  Machine one = Machine::find("laptop");
  const std::string text = to_string(one);
  one.flops += 1;
  EXPECT_NE(to_string(one), text);
}

TEST(Machine, ProductsOfFewBitsMayBeFaster) {
  Machine machine;
  machine.flops = 3;
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::i8}) {
    EXPECT_EQ(machine.product_flops(dtype), 3);
  }
  machine.flops_f32 = 5;
  for (const Dtype dtype : {Dtype::f32, Dtype::c64, Dtype::f16, Dtype::f8e4m3}) {
    EXPECT_EQ(machine.product_flops(dtype), 5);
  }
  machine.flops_16 = 7;
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f8e5m2, Dtype::i8}) {
    EXPECT_EQ(machine.product_flops(dtype), 7);
  }
  for (const Dtype dtype : {Dtype::f32, Dtype::c64}) EXPECT_EQ(machine.product_flops(dtype), 5);
  for (const Dtype dtype : {Dtype::f64, Dtype::c128}) EXPECT_EQ(machine.product_flops(dtype), 3);
}

TEST(Machine, AnUnknownNameIsRefusedWithTheList) {
  EXPECT_ERROR(ArgumentError, Machine::find("abacus"), "\"abacus\"",
               "laptop, node-4-h200, node-8-gpu, cluster");
}

TEST_F(MachineFile, IsReadWithDefaultsForWhatItLeavesOut) {
  const Machine machine = Machine::read(
      write("m.json", R"({"name": "mine", "ranks_per_node": 3, "copy_latency": 0, "flops": 7})"));
  EXPECT_EQ(machine.name, "mine");
  EXPECT_EQ(machine.ranks_per_node, 3);
  EXPECT_EQ(machine.copy_latency, 0);
  EXPECT_EQ(machine.flops, 7);
  EXPECT_EQ(machine.network_bandwidth, Machine{}.network_bandwidth);
}

TEST_F(MachineFile, IsFoundByPathAndInTheDirectoryOfTheUser) {
  const std::string path = write("laptop.json", R"({"name": "my laptop"})");
  EXPECT_EQ(Machine::find(path).name, "my laptop");
  EXPECT_EQ(Machine::find("laptop").name, "laptop");
  ::setenv("PARTITA_MACHINES", directory_.c_str(), 1);
  EXPECT_EQ(Machine::find("laptop").name, "my laptop");
  EXPECT_EQ(Machine::find("cluster").name, "cluster");
}

TEST_F(MachineFile, IsRefusedByTheKeyThatIsWrong) {
  EXPECT_TRUE(contains(refusal("{"), "not valid JSON"));
  EXPECT_TRUE(contains(refusal("[1]"), "JSON object"));
  EXPECT_TRUE(contains(refusal("{}"), "\"name\" is missing"));
  EXPECT_TRUE(contains(refusal(R"({"name": 3})"), "\"name\" must be text, not 3"));
  EXPECT_TRUE(contains(refusal(R"({"name": "m", "speed": 1})"), "unknown key \"speed\"; known: name"));
  EXPECT_TRUE(
      contains(refusal(R"({"name": "m", "copy_bandwidth": 0})"), "\"copy_bandwidth\" must be more than 0"));
  EXPECT_TRUE(
      contains(refusal(R"({"name": "m", "copy_latency": -1})"), "\"copy_latency\" must be 0 or more"));
  EXPECT_TRUE(
      contains(refusal(R"({"name": "m", "flops": "many"})"), "\"flops\" must be a number, not \"many\""));
  EXPECT_TRUE(
      contains(refusal(R"({"name": "m", "ranks_per_node": 2.5})"), "\"ranks_per_node\" must be a whole"));
}

TEST_F(MachineFile, ThatIsMissingIsAFileError) {
  EXPECT_THROW((void)Machine::read((directory_ / "none.json").string()), FileError);
  EXPECT_THROW((void)Machine::read(directory_.string()), FileError);
  EXPECT_THROW((void)Machine::find("./none.json"), FileError);
}

}  // namespace
}  // namespace partita
