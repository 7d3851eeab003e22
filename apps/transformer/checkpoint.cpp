#include "transformer/checkpoint.hpp"

#include <array>
#include <utility>
#include <vector>

namespace transformer {
namespace pt = partita;
namespace {

const std::string described = "parameters/embedding";  // the dataset with the attributes

/// A parameter's three datasets.
std::array<std::pair<std::string, pt::Array>, 3> datasets_of(const Parameter& parameter) {
  return {{{"parameters/" + parameter.name, parameter.master.array()},
           {"adam/first/" + parameter.name, parameter.first.array()},
           {"adam/second/" + parameter.name, parameter.second.array()}}};
}

}  // namespace

void write_checkpoint(const std::string& path, const Model& model, std::int64_t step) {
  std::vector<pt::Hdf5Dataset> datasets;
  for (const Parameter& parameter : model.parameters().list()) {
    for (const auto& [name, array] : datasets_of(parameter)) {
      datasets.push_back({name, array, {.truncate = true}});
      if (name == described)
        datasets.back().options.attributes = {{"run", model.settings().text()}, {"step", step}};
    }
  }
  pt::write_hdf5(path, datasets);
}

std::int64_t read_checkpoint(const pt::Context& context, const std::string& path, Model& model) {
  const pt::Hdf5Attributes attributes = pt::read_hdf5_attributes(path, described);
  const auto run = attributes.find("run"), step = attributes.find("step");
  if (run == attributes.end() || step == attributes.end()) throw pt::FileError(path + " is not a checkpoint");
  const auto& settings = std::get<std::string>(run->second);
  if (settings != model.settings().text()) {
    throw pt::ArgumentError(path + " belongs to another run: " + settings + ", not " +
                            model.settings().text());
  }
  for (const Parameter& parameter : model.parameters().list()) {
    for (auto& [name, array] : datasets_of(parameter)) {
      pt::copy(pt::read_hdf5(context, path, name, array.layout().distribution()), array);
    }
  }
  model.parameters().spread();
  return std::get<std::int64_t>(step->second);
}

}  // namespace transformer
