// The words of `partita fft`: kinds, norms and methods as text.
#pragma once

#include <partita/fft.hpp>
#include <string>
#include <vector>

namespace partita::tools {

// Each throws UsageError that lists what there is.
FftKind parse_fft_kind(const std::string& text);
Norm parse_norm(const std::string& text);
FftMethod parse_fft_method(const std::string& text);

std::string name_of(FftKind kind);
std::vector<std::string> fft_kind_names();
std::vector<std::string> fft_method_names();

/// c2c of complex numbers, r2c of others.
FftKind usual_kind(Dtype dtype);

}  // namespace partita::tools
