// The language model: its gradients are those of its loss, on any mesh the same.
#include "support/on_ranks.hpp"
#include "support/shared_directory.hpp"
#include "transformer/checkpoint.hpp"
#include "transformer/estimate.hpp"
#include "transformer/kernels.hpp"
#include "transformer/sample.hpp"
#include "transformer/text.hpp"

namespace partita::testing {
namespace {

using transformer::Batch;
using transformer::Execution;
using transformer::Model;
using transformer::Settings;

Settings tiny() {
  Settings settings{.layers = 2};
  settings.heads = 12;  // by 1 to 4 ranks
  settings.hidden = 24;
  settings.sequence = 5;
  settings.batch = 12;
  settings.dtype = Dtype::f64;
  return settings;
}

const std::string poem =
    "Tell me not, in mournful numbers, life is but an empty dream! For the soul is dead that slumbers, and "
    "things are not what they seem. Life is real! Life is earnest! And the grave is not its goal; Dust thou "
    "art, to dust returnest, was not spoken of the soul.";

/// Bytes with something to learn in them: the next one follows from the last two.
Batch bytes(const Settings& settings, std::uint64_t seed) {
  Batch batch;
  for (std::int64_t i = 0; i < settings.batch; ++i) {
    std::uint64_t a = seed + static_cast<std::uint64_t>(7 * i), b = a / 3;
    for (std::int64_t j = 0; j <= settings.sequence; ++j) {
      batch.push_back(static_cast<std::uint8_t>(32 + a % 64));
      const std::uint64_t next = a * 5 + b * 3 + 1;
      b = a;
      a = next % 64;
    }
  }
  return batch;
}

/// As many ranks along "data" as divide them.
std::vector<Mesh> meshes(const Context& context) {
  std::vector<Mesh> list;
  for (int data = 1; data <= context.size(); ++data) {
    if (context.size() % data == 0) list.push_back(transformer::mesh_of(context.size(), data));
  }
  return list;
}

// Not at the beginning, where biases are 0 and all is nearly linear.
void stir(Model& model) {
  std::uint64_t seed = 100;
  for (const transformer::Parameter& parameter : model.parameters().list()) {
    Array master = parameter.master.array();
    fill_normal(master, seed++);
    scale(master, 0.2);
  }
  model.parameters().spread();
}

/// Whether attention's kernels are the host's, which take all numbers.
bool attends_on_the_host(const Context& context) {
  return context.device().kind != Device::Kind::cuda || on_device::host_put();
}

/// By central differences, at some elements of every parameter.
void expect_gradients_of_the_loss(const Context& context, const Settings& settings) {
  const Batch batch = bytes(settings, 3);
  for (const Mesh& mesh : meshes(context)) {
    Execution execution(context);
    Model model(execution, settings, mesh);
    stir(model);
    model.gradients(batch);
    for (const transformer::Parameter& parameter : model.parameters().list()) {
      Array master = parameter.master.array();
      const Shape& shape = master.shape();
      double steepest = 0;
      for (const std::int64_t turn : {1, 3}) {
        Index index;
        for (const std::int64_t extent : shape) index.push_back(extent * turn / 5);
        if (parameter.name == "embedding") index[1] = turn == 1 ? 40 : 256 + 3;
        const double gradient = at<double>(parameter.gradient.array(), index);
        const double value = at<double>(master, index), step = 1e-4;
        const auto loss_at = [&](double moved) {
          set_at(master, index, moved);
          model.parameters().spread();
          return model.loss(batch);
        };
        const double slope = (loss_at(value + step) - loss_at(value - step)) / (2 * step);
        loss_at(value);
        steepest = std::max(steepest, std::abs(slope));
        EXPECT_NEAR(gradient, slope, 1e-7 + 1e-5 * std::abs(slope))
            << parameter.name << to_string(index) << " of " << mesh.axes()[0].size << " x "
            << mesh.axes()[1].size;
      }
      EXPECT_GT(steepest, 1e-5) << parameter.name;
    }
  }
}

RANK_TEST(Transformer, ItsGradientsAreThoseOfItsLoss) {
  Settings settings = tiny();
  expect_gradients_of_the_loss(context, settings);
  settings.fused_attention = true;
  if (attends_on_the_host(context)) expect_gradients_of_the_loss(context, settings);
}

/// The losses of some steps.
std::vector<double> train(Model& model, std::int64_t from, std::int64_t to) {
  std::vector<double> losses;
  for (std::int64_t step = from; step < to; ++step) {
    losses.push_back(model.train(batch_of(poem, model.settings(), step), step + 1));
  }
  return losses;
}

// In f32, and from the same beginnings, because random numbers are of the global index.
RANK_TEST(Transformer, LearnsTheSameOnAnyMesh) {
  Settings settings = tiny();
  settings.dtype = Dtype::f32;
  settings.hidden = 48;
  settings.sequence = 16;
  const std::int64_t steps = full_product() ? 200 : 40;
  const Context alone = context.subgroup({context.rank()});
  Execution serial(alone);
  Model wanted(serial, settings, transformer::mesh_of(1, 1));
  wanted.parameters().initialize(settings.seed);
  const std::vector<double> losses = train(wanted, 0, steps);
  EXPECT_NEAR(losses.front(), std::log(256), 0.1);
  EXPECT_LT(losses.back(), 3.2);
  for (const Mesh& mesh : meshes(context)) {
    Execution execution(context);
    Model model(execution, settings, mesh);
    model.parameters().initialize(settings.seed);
    const std::vector<double> found = train(model, 0, steps);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], losses[i], 1e-3) << "step " << i;
  }
}

/// In bf16 other meshes round elsewhere.
void go_on_from_a_checkpoint(Context& context, const Settings& settings, double rounding) {
  const SharedDirectory directory(context);
  const std::string file = directory / "checkpoint.h5";
  Execution execution(context);
  const Mesh mesh = transformer::mesh_of(context.size(), 1);
  Model model(execution, settings, mesh);
  model.parameters().initialize(settings.seed);
  train(model, 0, 3);
  write_checkpoint(file, model, 3);
  const std::vector<double> wanted = train(model, 3, 6);
  for (const Mesh& other : meshes(context)) {
    Model again(execution, settings, other);
    EXPECT_EQ(read_checkpoint(context, file, again), 3);
    const std::vector<double> found = train(again, 3, 6);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(found[i], wanted[i], other == mesh ? 0 : rounding);
    }
  }
  // By fewer ranks.
  const Context alone = context.subgroup({context.rank()});
  Execution serial(alone);
  Model single(serial, settings, transformer::mesh_of(1, 1));
  EXPECT_EQ(read_checkpoint(alone, file, single), 3);
  EXPECT_NEAR(train(single, 3, 6).back(), wanted.back(), rounding);
  context.barrier();

  Settings different = settings;
  different.layers = 1;
  Model another(execution, different, mesh);
  EXPECT_THROW(read_checkpoint(context, file, another), ArgumentError);
}

/// What products read is what Adam keeps, rounded.
void expect_rounded(const transformer::Parameter& parameter) {
  const Array wanted = gather(redistribute(astype(parameter.master.array(), Dtype::bf16), Replicated()), 0);
  const Array found = gather(redistribute(parameter.weight.array(), Replicated()), 0);
  EXPECT_TRUE(compare(found, wanted).equal) << parameter.name;
  EXPECT_EQ(parameter.master.array().dtype(), Dtype::f32);
  EXPECT_EQ(parameter.gradient.array().dtype(), Dtype::f32);
}

/// Beside the losses in f32 by products.
void expect_that_it_learns_in_bf16(Context& context, Settings settings, bool fused) {
  settings.sequence = 16;
  settings.dtype = Dtype::f32;
  settings.fused_attention = false;
  const Context alone = context.subgroup({context.rank()});
  Execution serial(alone);
  Model wide(serial, settings, transformer::mesh_of(1, 1));
  wide.parameters().initialize(settings.seed);
  const std::vector<double> losses = train(wide, 0, 30);
  settings.dtype = Dtype::bf16;
  settings.fused_attention = fused;
  for (const Mesh& mesh : meshes(context)) {
    Execution execution(context);
    Model model(execution, settings, mesh);
    model.parameters().initialize(settings.seed);
    const std::vector<double> found = train(model, 0, 30);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], losses[i], 0.05) << "step " << i;
    for (const transformer::Parameter& parameter : model.parameters().list()) expect_rounded(parameter);
    // The sums of a step have one order.
    model.parameters().initialize(settings.seed);
    EXPECT_EQ(train(model, 0, 3), std::vector<double>(found.begin(), found.begin() + 3));
  }
}

// Weights and activations are rounded, what is corrected is not: it learns as in f32.
RANK_TEST(Transformer, LearnsInBf16) {
  Settings settings = tiny();
  settings.hidden = 48;
  expect_that_it_learns_in_bf16(context, settings, false);
}

RANK_TEST(Transformer, LearnsInBf16WithFusedAttention) {
  const bool on_device = context.device().kind == Device::Kind::cuda;
  if (on_device && !transformer::has_fused_attention(context.device())) GTEST_SKIP() << "no such kernels";
  Settings settings = tiny();
  settings.hidden = 96;
  settings.dtype = Dtype::bf16;
  ASSERT_TRUE(settings.can_fuse_attention());
  expect_that_it_learns_in_bf16(context, settings, true);
}

RANK_TEST(Transformer, GoesOnFromACheckpointOnAnyMesh) {
  Settings settings = tiny();
  go_on_from_a_checkpoint(context, settings, 1e-10);
  settings.dtype = Dtype::bf16;
  go_on_from_a_checkpoint(context, settings, 0.02);
}

RANK_TEST(Transformer, WritesTextThatItHasLearned) {
  Settings settings = tiny();
  settings.hidden = 48;
  settings.sequence = 8;
  const std::string text = "abcdefgh. abcdefgh. abcdefgh. abcdefgh. ";
  Execution execution(context);
  Model model(execution, settings, transformer::mesh_of(context.size(), 1));
  model.parameters().initialize(settings.seed);
  for (std::int64_t step = 0; step < 60; ++step) model.train(batch_of(text, settings, step), step + 1);
  EXPECT_EQ(sample(execution, model, {.prompt = "abcd", .length = 16, .temperature = 0}), "efgh. abcdefgh. ");
  const transformer::SampleOptions warm{.prompt = "ab", .length = 12, .temperature = 2, .seed = 5};
  const std::string first = sample(execution, model, warm), second = sample(execution, model, warm);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 12U);
  EXPECT_THROW(sample(execution, model, {.prompt = ""}), ArgumentError);
}

void expect_what_the_dry_run_says(Context& context, const Settings& settings) {
  const bool on_device = context.device().kind == Device::Kind::cuda;
  for (const Mesh& mesh : meshes(context)) {
    const int data = mesh.axes()[0].size;
    const transformer::Estimate estimate =
        estimate_step(settings, data, context.topology(), context.machine(), context.rank(),
                      on_device ? MemorySpace::device : MemorySpace::host);
    Execution execution(context);
    Model model(execution, settings, mesh);
    model.parameters().initialize(settings.seed);
    const Batch batch = bytes(settings, 1);
    model.train(batch, 1);
    TrafficRecord record(context);
    model.train(batch, 2);
    record.stop();
    ASSERT_EQ(record.executions().size(), estimate.executions().size());
    std::array<std::int64_t, 2> packets{};
    for (std::size_t i = 0; i < record.executions().size(); ++i) {
      const ExecutedTraffic &found = record.executions()[i], &planned = estimate.executions()[i];
      EXPECT_EQ(found.operation, planned.operation) << i;
      EXPECT_EQ(found.traffic.local_bytes, planned.traffic.local_bytes) << i;
      if (found.method == "packets") {  // little between devices: counted as messages, where they arrive
        packets[0] += found.traffic.network_bytes;
        packets[1] += planned.traffic.node_bytes;
        continue;
      }
      EXPECT_EQ(found.method, planned.method) << i;
      EXPECT_EQ(found.traffic.node_bytes, planned.traffic.node_bytes) << i;
      EXPECT_EQ(found.traffic.network_bytes, planned.traffic.network_bytes) << i;
      EXPECT_EQ(found.traffic.messages, planned.traffic.messages) << i;
    }
    all_reduce(context, view(packets), view(packets));
    EXPECT_EQ(packets[0], packets[1]);
    EXPECT_GT(estimate.seconds(), 0);
    EXPECT_GE(estimate.array_bytes(), 16 * settings.parameters() / context.size());
    EXPECT_THROW(require_memory(estimate, settings, estimate.bytes() - 1), MemoryError);
    EXPECT_NO_THROW(require_memory(estimate, settings, estimate.bytes()));
  }
}

// The planners that an estimate asks are those of the ranks.
RANK_TEST(Transformer, MovesWhatItsDryRunSays) {
  Settings settings = tiny();
  settings.dtype = transformer::usual_dtype(context.device());
  expect_what_the_dry_run_says(context, settings);
  settings.hidden = 96;
  settings.fused_attention =
      attends_on_the_host(context) || transformer::has_fused_attention(context.device());
  expect_what_the_dry_run_says(context, settings);
}

RANK_TEST(Transformer, RefusesWhatCannotBeCut) {
  Execution execution(context);
  const Mesh mesh = transformer::mesh_of(context.size(), context.size());
  Settings settings = tiny();
  settings.batch = context.size() + 1;
  if (context.size() > 1) {
    EXPECT_THROW(Model(execution, settings, mesh), ArgumentError);
  }
  settings = tiny();
  settings.heads = 5;
  EXPECT_THROW(Model(execution, settings, mesh), ArgumentError);
  EXPECT_THROW(transformer::mesh_of(context.size(), context.size() + 1), ArgumentError);
  EXPECT_THROW(batch_of("short", settings, 0), ArgumentError);
}

// 175 billion parameters, planned here: on 512 ranks, or in the long form on 4,096.
TEST(TransformerEstimate, OfAModelThatFitsNowhereHere) {
  if (ranks().count > 1) GTEST_SKIP() << "once is enough";
  Settings settings{.layers = 96, .heads = 96, .hidden = 12288, .sequence = 2048};
  const int data = full_product() ? 512 : 64;
  settings.batch = 2 * data;
  EXPECT_NEAR(static_cast<double>(settings.parameters()), 174e9, 1e9);
  const Machine machine = Machine::find("cluster");
  const transformer::Estimate estimate =
      estimate_step(settings, data, Topology::regular(8 * data, 8), machine);
  EXPECT_GT(estimate.seconds(), 0);
  EXPECT_GT(estimate.array_bytes(), 16 * settings.parameters() / (8 * data));
}

// Scores are of each query and key: without them there is a number for each query.
TEST(TransformerEstimate, OfFusedAttention) {
  if (ranks().count > 1) GTEST_SKIP() << "once is enough";
  Settings settings{
      .layers = 1, .heads = 8, .hidden = 1024, .sequence = 4096, .batch = 1, .dtype = Dtype::bf16};
  const Machine machine = Machine::find("node-4-h200");
  const auto estimate = [&] {
    return estimate_step(settings, 1, Topology::regular(1, 1), machine, 0, MemorySpace::device);
  };
  const transformer::Estimate by_products = estimate();
  settings.fused_attention = true;
  const transformer::Estimate fused = estimate();
  const std::int64_t scores =
                         settings.heads * settings.sequence * settings.sequence * size_of(settings.dtype),
                     kept = settings.heads * settings.sequence * size_of(Dtype::f32);
  EXPECT_EQ(by_products.array_bytes() - fused.array_bytes(), 2 * scores - 3 * kept);
  EXPECT_EQ(by_products.executions().size() - fused.executions().size(), 7U);
  // The products of what is seen, two forwards and seven backwards, are in it.
  const double flops = 9. * static_cast<double>(settings.sequence * settings.sequence * settings.hidden);
  EXPECT_GT(fused.seconds(), flops / machine.flops_16);
  EXPECT_LT(fused.seconds(), by_products.seconds());
}

// Weights, gradients and Adam's state of 11.3 billion parameters are 203 GB: too many for one GPU, not for
// four.
TEST(TransformerEstimate, OfAModelThatFitsFourGpus) {
  if (ranks().count > 1) GTEST_SKIP() << "once is enough";
  Settings settings{
      .layers = 14, .heads = 64, .hidden = 8192, .sequence = 1024, .batch = 4, .dtype = Dtype::bf16};
  constexpr std::int64_t memory = 140'000'000'000;
  const Machine machine = Machine::find("node-4-h200");
  const auto on = [&](int gpus) {
    return estimate_step(settings, 1, Topology::regular(gpus, 4), machine, 0, MemorySpace::device);
  };
  const transformer::Estimate one = on(1), four = on(4);
  EXPECT_GT(one.array_bytes(), 18 * settings.parameters());
  EXPECT_EQ(one.bytes(), one.array_bytes() + one.scratch_bytes() + one.context_bytes());
  EXPECT_GT(one.context_bytes(), 0);
  EXPECT_LT(four.array_bytes(), 18 * settings.parameters() / 3);
  try {
    require_memory(one, settings, memory);
    ADD_FAILURE() << "it fits one GPU";
  } catch (const MemoryError& error) {
    EXPECT_TRUE(contains(std::string(error.what()), std::to_string(one.bytes()))) << error.what();
  }
  EXPECT_NO_THROW(require_memory(four, settings, memory));
}

}  // namespace
}  // namespace partita::testing
