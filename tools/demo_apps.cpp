#include "tools/demo_apps.hpp"

#include "density/program.hpp"
#include "shallow_water/program.hpp"
#include "transformer/program.hpp"

namespace partita::tools {
namespace {

void demonstrate_density(const Context& context, const std::string& folder) {
  density::Program program;
  program.settings.box = 200;
  program.settings.cells = program.settings.particles = 96;
  program.steps = 32;
  program.output = folder;
  density::run(context, program);
}

void demonstrate_shallow_water(const Context& context, const std::string& folder) {
  shallow_water::Program program;
  program.settings.columns = 360;
  program.settings.rows = 180;
  program.steps = 43300;  // ten days
  program.look_every = 1732;
  program.animation = folder + "/surface.gif";
  program.output = folder;
  shallow_water::run(context, program);
}

/// The default, with two ranks along "data" where their number is even.
void demonstrate_transformer(const Context& context, const std::string& folder) {
  transformer::Program program;
  program.settings.dtype = transformer::usual_dtype(context.device());
  program.data = context.size() % 2 == 0 ? 2 : 1;
  program.output = folder;
  transformer::run(context, program);
}

}  // namespace

const Words<App> apps("program", {"redistribution", "density", "shallow-water", "transformer"});

void demonstrate_app(const Context& context, App app, const std::string& folder) {
  if (app == App::density) return demonstrate_density(context, folder);
  if (app == App::shallow_water) return demonstrate_shallow_water(context, folder);
  demonstrate_transformer(context, folder);
}

}  // namespace partita::tools
