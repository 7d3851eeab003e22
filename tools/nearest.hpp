// What somebody meant who wrote a word that is not there.
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

/// The first word of the command line that is no command and no option, in a sentence; empty: there is none.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace partita::tools
