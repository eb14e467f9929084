// The look of every --help: usage, what the command does, its options with their defaults at the
// right, then an example and the exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace stoker {

// Columns that help is set in: what a terminal of the usual size shows.
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
// from what CLI11 knows: the description, the options in the order they were added (group, type
// name and default string), the subcommands and the footer. An option that may be given several
// times has "..." in the usage line.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string program,
                        CLI::AppFormatMode mode) const override;
};

// `help` as make_help gives it, with what begins its parts ("Usage:", "Example:", "Exit:") as a
// heading where colours may be used on `descriptor`.
std::string WithHeadings(std::string_view help, int descriptor);

// `text` broken into lines at spaces, to be written from column `indent` on: no line reaches beyond
// `width`, and every line but the first begins with `indent` spaces. Line breaks in `text` are
// kept. A word longer than a line stays whole.
std::string WrapText(std::string_view text, size_t width, size_t indent);

}  // namespace stoker
