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

// --memory BYTES, such as 512MiB: the budget that all pipelines of the process keep together
// (base/default_budget.h), which is set when the arguments are read.
CLI::Option& AddMemoryOption(CLI::App& app);

// Reads a size as people write it (base/byte_size.h) and hands on its bytes. Refuses less than 1
// kB: a number without a unit was meant to have one.
CLI::Validator MemorySize();

// Checks that an integer is at least so large, in words shorter than CLI11's.
CLI::Validator AtLeastCheck(int64_t least);

// Checks that a number lies between the two, both included, which NaN does not.
CLI::Validator BetweenCheck(double least, double most);

// Checks that a number is finite and greater than 0.
CLI::Validator PositiveCheck();

// --json
CLI::Option& AddJsonOption(CLI::App& app, bool& json);

}  // namespace stoker
