// Options shared by several commands.
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

// --memory BYTES, such as 512MiB: the budget that all pipelines of the process share
// (base/default_budget.h), set when the arguments are read.
CLI::Option& AddMemoryOption(CLI::App& app);

// --allow-code: the plug-ins that the recipe names are loaded, which runs their code
// (data/recipe/plugins.h). In force for the process once the arguments are read.
CLI::Option& AddAllowCodeOption(CLI::App& app);

// Converts a size (base/byte_size.h) to bytes. Refuses less than 1 kB, because the unit was
// probably forgotten.
CLI::Validator MemorySize();

// Checks that an integer is at least `least`, with a shorter message than CLI11's.
CLI::Validator AtLeastCheck(int64_t least);

// Checks that a number lies between the two, both included, which NaN does not.
CLI::Validator BetweenCheck(double least, double most);

// Checks that a number is finite and greater than 0.
CLI::Validator PositiveCheck();

// --json
CLI::Option& AddJsonOption(CLI::App& app, bool& json);

}  // namespace stoker
