// Options that several commands have in common, defined and explained once.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

// RECIPE
CLI::Option& AddRecipeArgument(CLI::App& app, std::string& path);

// RUN
CLI::Option& AddRunArgument(CLI::App& app, std::string& directory);

// --set KEY=VALUE, any number of times; kept in order.
CLI::Option& AddSetOption(CLI::App& app, std::vector<std::string>& assignments);

// Checks that an integer is at least so large, in words shorter than CLI11's.
CLI::Validator AtLeastCheck(int64_t least);

// --json
CLI::Option& AddJsonOption(CLI::App& app, bool& json);

}  // namespace stoker
