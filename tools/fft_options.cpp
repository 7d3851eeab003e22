#include "tools/fft_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/subcommand.hpp"

namespace partita::tools {
namespace {

// In the order of the enumerations.
const std::vector<std::string> kinds{"c2c",  "r2c",  "c2r",  "dct1", "dct2", "dct3",
                                     "dct4", "dst1", "dst2", "dst3", "dst4"};
const std::vector<std::string> norms{"backward", "ortho", "forward"};
const std::vector<std::string> methods{"automatic", "local", "slab", "pencil", "four-step"};

template <class Enumeration>
Enumeration parse(const std::vector<std::string>& names, const std::string& text, const char* what) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw UsageError(fmt::format("no {}: \"{}\": known are {}", what, text, fmt::join(names, ", ")));
  return static_cast<Enumeration>(found - names.begin());
}

}  // namespace

FftKind parse_fft_kind(const std::string& text) {
  return parse<FftKind>(kinds, text, "kind of transform");
}

Norm parse_norm(const std::string& text) {
  return parse<Norm>(norms, text, "norm");
}

FftMethod parse_fft_method(const std::string& text) {
  return parse<FftMethod>(methods, text, "method");
}

std::string name_of(FftKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

std::vector<std::string> fft_kind_names() {
  return kinds;
}

std::vector<std::string> fft_method_names() {
  return methods;
}

FftKind usual_kind(Dtype dtype) {
  return is_complex(dtype) ? FftKind::c2c : FftKind::r2c;
}

}  // namespace partita::tools
