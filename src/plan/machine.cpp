#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <partita/machine.hpp>
#include <sstream>

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "plan/shipped_machines.hpp"

namespace partita {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::ordered_json;

struct Field {
  const char* key;
  double Machine::*value;
  bool may_be_zero;
};

constexpr Field fields[] = {
    {"copy_bandwidth", &Machine::copy_bandwidth, false},
    {"node_copy_bandwidth", &Machine::node_copy_bandwidth, false},
    {"strided_bandwidth", &Machine::strided_bandwidth, false},
    {"copy_latency", &Machine::copy_latency, true},
    {"signal_latency", &Machine::signal_latency, true},
    {"peer_bandwidth", &Machine::peer_bandwidth, false},
    {"store_bandwidth", &Machine::store_bandwidth, true},
    {"network_bandwidth", &Machine::network_bandwidth, false},
    {"network_latency", &Machine::network_latency, true},
    {"bus_bandwidth", &Machine::bus_bandwidth, false},
    {"flops", &Machine::flops, false},
    {"flops_f32", &Machine::flops_f32, true},
    {"flops_16", &Machine::flops_16, true},
    {"flops_transform", &Machine::flops_transform, true},
};

std::string known_keys() {
  std::string keys = "name, description, ranks_per_node";
  for (const Field& field : fields) keys += std::string(", ") + field.key;
  return keys;
}

double number_of(const Document& value, const Field& field, const std::string& origin) {
  check(value.is_number(), "{}: \"{}\" must be a number, not {}", origin, field.key, value.dump());
  const double number = value.get<double>();
  check(number > 0 || (field.may_be_zero && number == 0), "{}: \"{}\" must be {}, not {}", origin, field.key,
        field.may_be_zero ? "0 or more" : "more than 0", value.dump());
  return number;
}

void set(Machine& machine, const std::string& key, const Document& value, const std::string& origin) {
  if (key == "name" || key == "description") {
    check(value.is_string(), "{}: \"{}\" must be text, not {}", origin, key, value.dump());
    if (key == "name") machine.name = value.get<std::string>();
    return;
  }
  if (key == "ranks_per_node") {
    check(value.is_number_integer() && value > 0 && value <= 1'000'000,
          "{}: \"ranks_per_node\" must be a whole number from 1 on, not {}", origin, value.dump());
    machine.ranks_per_node = value.get<int>();
    return;
  }
  const auto* field = std::find_if(std::begin(fields), std::end(fields),
                                   [&](const Field& candidate) { return key == candidate.key; });
  check(field != std::end(fields), "{}: unknown key \"{}\"; known: {}", origin, key, known_keys());
  machine.*(field->value) = number_of(value, *field, origin);
}

Machine parse(std::string_view text, const std::string& origin) {
  const Document json = Document::parse(text.begin(), text.end(), nullptr, false);
  check(!json.is_discarded(), "{}: not valid JSON", origin);
  check(json.is_object(), "{}: a machine description is a JSON object", origin);
  Machine machine;
  for (const auto& [key, value] : json.items()) set(machine, key, value, origin);
  check(!machine.name.empty(), "{}: the key \"name\" is missing", origin);
  return machine;
}

// The share directory of the prefix that this library is installed in; PREFIX/lib/ARCHITECTURE is two steps
// deep.
void add_installed(std::vector<fs::path>& directories) {
  Dl_info information{};
  if (dladdr(reinterpret_cast<const void*>(&planning::shipped_machines), &information) == 0) return;
  if (information.dli_fname == nullptr) return;
  std::error_code ignored;
  fs::path prefix = fs::absolute(information.dli_fname, ignored).parent_path();
  for (int steps = 0; steps < 2; ++steps) {
    prefix = prefix.parent_path();
    directories.push_back(prefix / "share" / "partita" / "machines");
  }
}

std::vector<fs::path> search_directories() {
  std::vector<fs::path> directories;
  if (const std::string_view first = environment_variable("PARTITA_MACHINES"); !first.empty()) {
    directories.emplace_back(first);
  }
  add_installed(directories);
  return directories;
}

}  // namespace

Machine Machine::read(const std::string& path) {
  std::error_code ignored;
  check<FileError>(fs::exists(path, ignored), "{}: the machine description does not exist", path);
  check<FileError>(!fs::is_directory(path, ignored), "{}: a directory, not a machine description", path);
  std::ifstream file(path, std::ios::binary);
  check<FileError>(file.is_open(), "{}: cannot be read", path);
  std::ostringstream text;
  text << file.rdbuf();
  check<FileError>(!file.bad(), "{}: cannot be read", path);
  return parse(text.str(), path);
}

Machine Machine::find(std::string_view name_or_path) {
  const std::string text(name_or_path);
  if (text.find('/') != std::string::npos || fs::path(text).extension() == ".json") return read(text);
  std::error_code ignored;
  for (const fs::path& directory : search_directories()) {
    const fs::path candidate = directory / (text + ".json");
    if (fs::is_regular_file(candidate, ignored)) return read(candidate.string());
  }
  for (const planning::ShippedMachine& machine : planning::shipped_machines) {
    if (machine.name == name_or_path) return parse(machine.json, text);
  }
  throw ArgumentError(fmt::format("unknown machine \"{}\"; known: {}, or the path of a description", text,
                                  fmt::join(shipped(), ", ")));
}

Machine Machine::here() {
  const std::string_view named = environment_variable("PARTITA_MACHINE");
  return find(named.empty() ? "laptop" : named);
}

double Machine::product_flops(Dtype factors) const {
  const bool is_double = factors == Dtype::f64 || factors == Dtype::c128;
  if (!is_double && factors != Dtype::f32 && factors != Dtype::c64 && flops_16 > 0) return flops_16;
  return !is_double && flops_f32 > 0 ? flops_f32 : flops;
}

std::string to_string(const Machine& machine) {
  std::string text = fmt::format("{}: ranks_per_node {}", machine.name, machine.ranks_per_node);
  for (const Field& field : fields) text += fmt::format(", {} {}", field.key, machine.*(field.value));
  return text;
}

std::vector<std::string> Machine::shipped() {
  std::vector<std::string> names;
  for (const planning::ShippedMachine& machine : planning::shipped_machines) names.emplace_back(machine.name);
  return names;
}

}  // namespace partita
