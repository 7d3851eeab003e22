#include "tools/subcommand.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <map>
#include <partita/machine.hpp>
#include <sstream>

#include "tools/command_line.hpp"

namespace partita::tools {
namespace {

struct Entry {
  std::string help;
  std::function<void(Subcommand)> add;
};

// Made on first use: registrars of other files run before main, in any order.
std::map<std::string, Entry>& registered() {
  static std::map<std::string, Entry> all;
  return all;
}

std::map<const CLI::Option*, std::vector<std::string>>& offered() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

}  // namespace

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (int i = 0; i < dtype_count; ++i) names.emplace_back(name(static_cast<Dtype>(i)));
  return names;
}

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::hidden() {
  option_->group("");
  return *this;
}

Option& Option::offers(const std::vector<std::string>& words) {
  offered()[option_] = words;
  return *this;
}

Option Subcommand::taken(const std::string& names, const std::function<void(const std::string&)>& take,
                         const std::string& help, const std::string& type) {
  CLI::Option* const option = app_.add_option_function<std::string>(names, take, help);
  if (!type.empty()) option->type_name(type);
  return Option(option);
}

Option Subcommand::word(const std::string& names, std::string& value, const std::string& help,
                        const std::string& type) {
  return parsed(
      names, value, [](const std::string& text) { return text; }, help, type);
}

Option Subcommand::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_.add_flag(names, value, help));
}

template <class Number>
Option Subcommand::number(const std::string& names, Number& value, std::type_identity_t<Number> least,
                          const std::string& help, const std::string& type) {
  constexpr Number most = std::is_same_v<Number, int> ? 1 << 20 : std::numeric_limits<Number>::max();
  return Option(
      app_.add_option(names, value, help)->check(CLI::Range(least, most).description(""))->type_name(type));
}
template Option Subcommand::number(const std::string&, int&, int, const std::string&, const std::string&);
template Option Subcommand::number(const std::string&, std::int64_t&, std::int64_t, const std::string&,
                                   const std::string&);
template Option Subcommand::number(const std::string&, double&, double, const std::string&,
                                   const std::string&);

Option Subcommand::numbers(const std::string& names, std::vector<int>& values, const std::string& help) {
  return Option(app_.add_option(names, values, help)
                    ->type_name("N")
                    ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

Option Subcommand::ranks(int& value, const std::string& help) {
  return number("-n,--ranks", value, 1, help);
}

Option Subcommand::distribution(const std::string& names, std::optional<Distribution>& value,
                                const std::string& help, const std::string& type) {
  return parsed(names, value, Distribution::parse, help, type)
      .offers({"slab:", "box:", "block-cyclic:", "block-noncyclic:", "replicated", "mesh:"});
}

Option Subcommand::shape(Shape& value, const std::string& help) {
  return parsed("-s,--shape", value, parse_shape, help, "8192x8192").required();
}

Option Subcommand::axes(std::vector<int>& value, const std::string& help) {
  return parsed("--axes", value, parse_axes, help, "2,1,0");
}

Option Subcommand::op(MatmulOptions& how, const std::string& help) {
  const auto take = [&how](const std::string& text) {
    how.op_a = parse_op(text, 0);
    how.op_b = parse_op(text, 1);
  };
  return taken("--op", take, help, "nn|nt|...").offers({"nn", "nt", "tn", "tt", "nc", "cn"});
}

Option Subcommand::reduce_dtype(MatmulOptions& how) {
  return parsed("--reduce-dtype", how.reduce_dtype, parse_dtype,
                "dtype of partial sums exchanged by ranks in a multiply (that of the sums)", "DTYPE")
      .offers(dtype_names());
}

void Subcommand::factorization(FactorOptions& how) {
  number("--block", how.block, 1, "of a factorization: columns of a panel (chosen)");
  parsed("--grid", how.grid, parse_shape,
         "of a factorization: rows and columns of the grid of ranks; 1xP: whole columns (chosen)", "2x2");
  choice("--pivoting", how.pivoting, pivotings,
         "of LU: partial, or tournament, which grids of several rows require (automatic)");
  number("--memory-limit", how.memory_limit, 0, "of a factorization: maximum scratch per rank in bytes",
         "BYTES");
}

Option Subcommand::machine(std::string& value, const std::string& help) {
  return word("--machine", value, help, "NAME|FILE").offers(Machine::shipped());
}

void Subcommand::rest(std::vector<std::string>& words) {
  app_.prefix_command();
  app_.parse_complete_callback([this_app = &app_, &words] {
    words = this_app->remaining();
    // No program is called so: an option that is not known, whose nearest one is named.
    if (!words.empty() && words.front().starts_with('-')) throw CLI::ExtrasError({words.front()});
  });
}

void Subcommand::footer(const std::string& text) {
  app_.footer(text);
}

void Subcommand::callback(std::function<void()> body) {
  app_.final_callback(std::move(body));
}

Register::Register(std::string name, std::string help, std::function<void(Subcommand)> add) {
  registered().emplace(std::move(name), Entry{std::move(help), std::move(add)});
}

void Register::add_all(CLI::App& app) {
  for (const auto& [name, entry] : registered()) entry.add(Subcommand(*app.add_subcommand(name, entry.help)));
}

std::vector<std::string> offered_words(const CLI::Option& option) {
  const auto found = offered().find(&option);
  return found == offered().end() ? std::vector<std::string>() : found->second;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

std::string examples(const std::string& lines) {
  std::string text = "Examples:\n";
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) text += fmt::format("  {}\n", line);
  text.pop_back();
  return text;
}

}  // namespace partita::tools
