#include "runtime/environment.hpp"

#include "base/check.hpp"
#include "base/environment_variable.hpp"
#include "runtime/settings.hpp"

namespace partita {
namespace {

void check_options(const ContextOptions& options) {
  check(options.deadline.count() > 0, "the deadline is {} ms; it must be more than 0",
        options.deadline.count());
  for (const Setting& setting : settings()) {
    if (setting.read == nullptr || setting.option == "deadline") continue;
    ContextOptions ignored;
    const std::string value = setting.show(options);
    check(setting.read(value, ignored), "{} is {}; {}", setting.option, value, setting.values);
  }
}

}  // namespace

ContextOptions with_environment(ContextOptions options) {
  check_options(options);
  for (const Setting& setting : settings()) {
    const std::string_view text = environment_variable(setting.variable);
    if (setting.read == nullptr || text.empty()) continue;
    check(setting.read(text, options), "{}", refusal_of(setting, text));
  }
  return options;
}

}  // namespace partita
