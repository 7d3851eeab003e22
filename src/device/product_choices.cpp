#include "device/product_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <partita/io.hpp>
#include <sstream>
#include <utility>

#include "device/physical_device.hpp"

namespace partita::devices {
namespace {

std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string words_of(const DeviceGemm& what) {
  const auto factor = [](const DeviceGemm::Factor& one) {
    return fmt::format("{}:{}:{}:{}", name(one.dtype), static_cast<int>(one.op), one.leading, one.stride);
  };
  std::string after;
  if (what.activation != Activation::identity)
    after += fmt::format(", activation {}", static_cast<int>(what.activation));
  if (what.bias) after += fmt::format(", bias {}", name(*what.bias));
  const auto beside = [&after](const char* role, const std::optional<DeviceGemm::Beside>& one) {
    if (one) after += fmt::format(", {} {}:{}", role, one->leading, one->stride);
  };
  beside("addend", what.addend);
  beside("auxiliary", what.auxiliary);
  return fmt::format("{} {} {}x{}x{} {} {} {}:{} {} times, aligned {}{}", name(what.result),
                     name(what.compute), what.m, what.n, what.k, factor(what.a), factor(what.b), what.leading,
                     what.stride, what.batches, what.alignment, after);
}

std::string words_of(const DeviceGemm& what, std::string_view library, const PhysicalDevice& device) {
  return fmt::format("{} {} {}", library, device.model(), words_of(what));
}

std::string words_of(std::span<const std::uint64_t> numbers) {
  std::string words;
  for (const std::uint64_t number : numbers) words += fmt::format("{}{:x}", words.empty() ? "" : " ", number);
  return words;
}

bool read_words(const std::string& words, std::span<std::uint64_t> numbers) {
  std::istringstream in(words);
  in >> std::hex;
  for (std::uint64_t& number : numbers) {
    if (!(in >> number)) return false;
  }
  return (in >> std::ws).eof();
}

std::string ProductChoices::find(const std::string& product) const {
  const auto found = ways_.find(product);
  return found == ways_.end() ? "" : found->second;
}

void ProductChoices::add(std::string_view text, bool ours) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0 || tab + 1 == line.size()) continue;
    std::string product(line.substr(0, tab)), way(line.substr(tab + 1));
    if (ours) {
      ways_.emplace(std::move(product), std::move(way));
    } else {
      ways_[std::move(product)] = std::move(way);
    }
  }
}

std::string ProductChoices::text() const {
  std::string text;
  for (const auto& [product, way] : ways_) text.append(product).append(1, '\t').append(way).append(1, '\n');
  return text;
}

ChoicesOfProcess& ChoicesOfProcess::get() {
  static auto* const choices = new ChoicesOfProcess;
  return *choices;
}

std::string ChoicesOfProcess::find(const std::string& product) {
  const std::lock_guard lock(mutex_);
  return choices_.find(product);
}

void ChoicesOfProcess::keep(const std::string& product, const std::string& way) {
  const std::lock_guard lock(mutex_);
  choices_.keep(product, way);
  for (auto& [file, has_news] : files_) has_news = true;
}

void ChoicesOfProcess::read(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (!files_.emplace(file, !choices_.empty()).second) return;
  choices_.add(contents_of(file), true);
}

void ChoicesOfProcess::write(const std::string& file) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(files_[file], false)) return;
  ProductChoices all = choices_;
  all.add(contents_of(file), true);  // of other processes, meanwhile
  try {
    write_file(file, all.text());
  } catch (const std::exception&) {
    // It would only have saved time.
  }
}

std::string ChoicesOfContext::find(const std::string& product) {
  std::string way = agreed_.find(product);
  if (!way.empty()) return way;
  way = ChoicesOfProcess::get().find(product);
  if (way.empty()) return way;
  agreed_.keep(product, way);
  news_.keep(product, way);
  return way;
}

void ChoicesOfContext::keep(const std::string& product, const std::string& way) {
  agreed_.keep(product, way);
  news_.keep(product, way);
  ChoicesOfProcess::get().keep(product, way);
}

std::string ChoicesOfContext::news() {
  return std::exchange(news_, {}).text();
}

void ChoicesOfContext::agree(std::span<const std::string> news) {
  for (auto of_rank = news.rbegin(); of_rank != news.rend(); ++of_rank) agreed_.add(*of_rank, false);
}

ChoicesFile::ChoicesFile(std::string file) : file_(std::move(file)) {
  if (!file_.empty()) ChoicesOfProcess::get().read(file_);
}

ChoicesFile::~ChoicesFile() {
  if (!file_.empty()) ChoicesOfProcess::get().write(file_);
}

}  // namespace partita::devices
