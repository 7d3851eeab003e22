// The language model: its gradients are those of its loss, on any mesh the same.
#include <cmath>
#include <vector>

#include "ranks/rank_test.hpp"
#include "transformer/model.hpp"

namespace partita::testing {
namespace {

using transformer::Batch;
using transformer::Execution;
using transformer::Model;
using transformer::Settings;

Settings tiny() {
  Settings settings;
  settings.layers = 2;
  settings.heads = 12;  // by 1 to 4 ranks
  settings.hidden = 24;
  settings.sequence = 5;
  settings.batch = 12;
  settings.dtype = Dtype::f64;
  return settings;
}

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
  int number = 0;
  for (const transformer::Parameter& parameter : model.parameters().list()) {
    Array master = parameter.master.array();
    fill_normal(master, static_cast<std::uint64_t>(100 + number++));
    scale(master, 0.2);
  }
  model.parameters().spread();
}

/// By central differences, at some elements of every parameter.
RANK_TEST(Transformer, ItsGradientsAreThoseOfItsLoss) {
  const Settings settings = tiny();
  const Batch batch = bytes(settings, 3);
  for (const Mesh& mesh : meshes(context)) {
    Execution execution(context);
    Model model(execution, settings, mesh);
    stir(model);
    model.gradients(batch);
    for (const transformer::Parameter& parameter : model.parameters().list()) {
      Array master = parameter.master.array();
      const Shape& shape = master.shape();
      for (const std::int64_t turn : {1, 4}) {
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
        EXPECT_NEAR(gradient, slope, 1e-7 + 1e-5 * std::abs(slope))
            << parameter.name << to_string(index) << " of " << mesh.axes()[0].size << " x "
            << mesh.axes()[1].size;
      }
    }
  }
}

}  // namespace
}  // namespace partita::testing
