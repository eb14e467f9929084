// The look of every --help: usage, what the command does, its options with their defaults at the
// right, then an example and the exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace stoker {

// The columns of help: the usual width of a terminal.
inline constexpr size_t kHelpWidth = 80;

// Lays out a command as
//
//   Usage: stoker bench RECIPE [--threads N] [--json]
//   Runs the input pipeline of RECIPE alone.
//     RECIPE       YAML
//     --threads N  worker threads, 1..1024                               [as many as CPUs]
//   Example: stoker bench recipes/fashion-mnist.yaml
//   Exit: 0 measured, 1 failed, 2 wrong usage or recipe
//
// from CLI11's data: the description, the options in the order they were added (group, type name
// and default string), the subcommands and the footer. An option that may be given several times
// has "..." in the usage line.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string program,
                        CLI::AppFormatMode mode) const override;
};

// Returns `help`, a result of make_help, with the beginnings of its parts ("Usage:", "Example:",
// "Exit:") as headings if colours may be used on `descriptor`.
std::string WithHeadings(std::string_view help, int descriptor);

// Returns `text` wrapped at spaces, for output from column `indent` on: no line is longer than
// `width`, and every line except the first begins with `indent` spaces. Keeps line breaks in
// `text`. Does not split words longer than a line.
std::string WrapText(std::string_view text, size_t width, size_t indent);

}  // namespace stoker
