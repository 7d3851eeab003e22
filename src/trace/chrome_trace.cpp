// The trace event format: "Trace Event Format", Google, 2016 (JSON object format, complete events).
#include <cmath>
#include <nlohmann/json.hpp>
#include <partita/trace.hpp>
#include <set>

#include "base/check.hpp"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_lines = 16;  // of a rank

// From 1 on: the viewers take 0 for the machine's idle task.
int row_of(std::size_t rank, int line) {
  return static_cast<int>(rank) * most_lines + line + 1;
}

/// Microseconds, to the nanosecond.
double microseconds(double seconds) {
  return std::round(seconds * 1e9) / 1e3;
}

Json label(const char* what, int process, int row, const char* key, const Json& value) {
  Json event{{"name", what}, {"ph", "M"}, {"pid", process}};
  if (row > 0) event["tid"] = row;
  event["args"] = {{key, value}};
  return event;
}

void add_row_labels(Json& events, int process, std::size_t rank, const std::vector<TracedStep>& steps) {
  std::set<int> lines;
  for (const TracedStep& step : steps) lines.insert(step.line);
  if (lines.empty()) lines.insert(0);
  for (const int line : lines) {
    const int row = row_of(rank, line);
    const std::string stream = line == 0 ? "" : fmt::format(", stream {}", line - 1);
    events.push_back(label("thread_name", process, row, "name", fmt::format("rank {}{}", rank, stream)));
    events.push_back(label("thread_sort_index", process, row, "sort_index", row));
  }
}

Json event_of(int process, std::size_t rank, const TracedStep& step) {
  const double begin = microseconds(step.begin);
  return {
      {"name", step.kind},
      {"cat", step.kind},
      {"ph", "X"},
      {"ts", begin},
      {"dur", std::round((microseconds(step.end) - begin) * 1e3) / 1e3},
      {"pid", process},
      {"tid", row_of(rank, step.line)},
      {"args", {{"rank", rank}, {"execution", step.execution}, {"step", step.step}, {"what", step.what}}}};
}

}  // namespace

std::string chrome_trace(std::span<const Timeline> timelines) {
  Json events = Json::array();
  int process = 0;
  for (const Timeline& timeline : timelines) {
    ++process;
    events.push_back(label("process_name", process, 0, "name", timeline.name));
    events.push_back(label("process_sort_index", process, 0, "sort_index", process));
    for (std::size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
      add_row_labels(events, process, rank, timeline.ranks[rank]);
      for (const TracedStep& step : timeline.ranks[rank]) events.push_back(event_of(process, rank, step));
    }
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(-1) + "\n";
}

}  // namespace partita
