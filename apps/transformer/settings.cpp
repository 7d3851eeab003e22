#include "transformer/settings.hpp"

#include <fmt/format.h>

namespace transformer {
namespace pt = partita;
namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw pt::ArgumentError("transformer: " + message);
}

}  // namespace

std::int64_t Settings::parameters() const {
  const std::int64_t block = 12 * hidden * hidden + 9 * hidden;  // weights and biases
  return layers * block + (2 * layers + 1) * 2 * hidden + (vocabulary + sequence) * hidden +
         vocabulary * hidden;
}

pt::Dtype Settings::wide() const {
  return dtype == pt::Dtype::bf16 ? pt::Dtype::f32 : dtype;
}

bool Settings::can_fuse_attention() const {
  return dtype == pt::Dtype::bf16 && head_size() % 8 == 0 && head_size() <= 128;
}

std::string Settings::text() const {
  return fmt::format(
      "layers {} heads {} hidden {} sequence {} batch {} seed {} learning rate {} warm-up {} dtype {}",
      layers, heads, hidden, sequence, batch, seed, learning_rate, warm_up, pt::name(dtype));
}

pt::Dtype usual_dtype(const pt::Device& device) {
  return device.kind == pt::Device::Kind::cuda ? pt::Dtype::bf16 : pt::Dtype::f32;
}

pt::Mesh mesh_of(int ranks, int data) {
  require(data >= 1 && ranks % data == 0,
          fmt::format("{} ranks are not a multiple of {} along \"data\"", ranks, data));
  return pt::Mesh({{"data", data}, {"tensor", ranks / data}});
}

const Settings& checked(const Settings& settings, const pt::Mesh& mesh) {
  const std::int64_t data = mesh.axes()[0].size, tensor = mesh.axes()[1].size;
  require(settings.layers >= 1 && settings.heads >= 1 && settings.hidden >= 1 && settings.sequence >= 1 &&
              settings.batch >= 1,
          "layers, heads, hidden, sequence and batch must be at least 1");
  require(settings.hidden % settings.heads == 0,
          fmt::format("hidden {} is not a multiple of {} heads", settings.hidden, settings.heads));
  require(
      settings.batch % data == 0,
      fmt::format("{} sequences cannot be distributed evenly over {} along \"data\"", settings.batch, data));
  require(
      settings.heads % tensor == 0,
      fmt::format("{} heads cannot be distributed evenly over {} along \"tensor\"", settings.heads, tensor));
  require(settings.wide() == pt::Dtype::f32 || settings.wide() == pt::Dtype::f64,
          fmt::format("the dtype must be bf16, f32 or f64, not {}", pt::name(settings.dtype)));
  return settings;
}

}  // namespace transformer
