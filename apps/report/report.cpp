#include "report/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace report {
namespace pt = partita;

void print_line(const pt::Context& context, const std::string& line) {
  pt::rank_zero(context, [&] {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  });
}

void make_folder(const pt::Context& context, const std::string& folder) {
  pt::rank_zero(context, [&] { std::filesystem::create_directories(folder); });
}

void record_step(const pt::Context& context, const std::string& folder, const std::function<void()>& step) {
  const pt::Timeline measured = pt::record_timeline(context, step);
  pt::rank_zero(context, [&] { pt::write_file(folder + "/trace.json", pt::chrome_trace({{measured}})); });
}

}  // namespace report
