// What a user meant who wrote a word that does not exist.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace partita::tools {

/// The known word that is nearest by edits (Levenshtein 1966), if a third of its letters or fewer differ;
/// empty: none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean shape?", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

/// The first word of the command line that is neither command nor option, in a sentence; empty: none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace partita::tools
