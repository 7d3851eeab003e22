// Which of several ways of a library to make a product was fastest: kept by the process, agreed on by the
// ranks of a context, and in a file.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "device/device_math.hpp"

namespace partita::devices {

class PhysicalDevice;

/// In words that tell products apart as far as ways do.
std::string words_of(const DeviceGemm& what);
/// The same with what else ways depend on: the library with its version, and the model of the device. Ranks
/// with devices of one model share them, and files carry them to other hosts.
std::string words_of(const DeviceGemm& what, std::string_view library, const PhysicalDevice& device);

/// Numbers in words, and back; false: they are not those of so many.
std::string words_of(std::span<const std::uint64_t> numbers);
bool read_words(const std::string& words, std::span<std::uint64_t> numbers);

/// Ways by products, both in words without tabs and line ends. A value.
class ProductChoices {
 public:
  std::string find(const std::string& product) const;  ///< empty: none
  /// In place of what is there.
  void keep(const std::string& product, const std::string& way) { ways_[product] = way; }
  /// All of a text; what is there stays if `ours`. Lines that say nothing are left out.
  void add(std::string_view text, bool ours);
  std::string text() const;  ///< a line each
  bool empty() const { return ways_.empty(); }

 private:
  std::map<std::string, std::string> ways_;
};

/// Those of this process, whatever context has tried them. Thread-safe.
class ChoicesOfProcess {
 public:
  static ChoicesOfProcess& get();
  std::string find(const std::string& product);
  void keep(const std::string& product, const std::string& way);
  /// Adds those of the file, once a process. A file that is not there is none.
  void read(const std::string& file);
  /// Adds to the file what it has not, if anything was kept since the last time. Not to be able to is no
  /// error: the file only saves time.
  void write(const std::string& file);

 private:
  std::mutex mutex_;
  ProductChoices choices_;
  std::map<std::string, bool> files_;  // that were read; whether there is anything new for them
};

/// Those that a context uses. What its ranks have agreed on counts, before anything that the process knows
/// from elsewhere: else replicas of a result might differ in their last bits. For one thread.
class ChoicesOfContext {
 public:
  /// Empty: it is to be tried, and kept.
  std::string find(const std::string& product);
  void keep(const std::string& product, const std::string& way);
  /// What has come since this was asked last, for the other ranks.
  std::string news();
  /// By rank: those of the first count.
  void agree(std::span<const std::string> news);

 private:
  ProductChoices agreed_, news_;
};

/// While it lives, choices are read from the file before and written there after. Empty: nothing.
class ChoicesFile {
 public:
  explicit ChoicesFile(std::string file);
  ~ChoicesFile();
  ChoicesFile(const ChoicesFile&) = delete;
  ChoicesFile& operator=(const ChoicesFile&) = delete;

 private:
  std::string file_;
};

}  // namespace partita::devices
