#include "stoker/tools/commands/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace stoker {
namespace {

// Text that roff sets as it is: no line is taken for a request, and hyphens are those of options.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// "stoker train", "stoker".
std::string CommandLine(const CommandEntry& program, const CommandEntry& command) {
  return &program == &command ? program.name : program.name + " " + command.name;
}

std::string Dashed(std::string text) {
  std::ranges::replace(text, ' ', '-');
  return text;
}

std::string Section(std::string_view title, std::string_view body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}\n", title, body);
}

std::string Synopsis(const CommandEntry& program, const CommandEntry& command) {
  std::string text = fmt::format(".B {}\n", Roff(CommandLine(program, command)));
  for (const OptionEntry& option : command.options) {
    if (option.names.back() != "--help") text += Roff(option.Usage()) + "\n";
  }
  if (!command.commands.empty()) text += "COMMAND ...\n";
  text.pop_back();
  return text;
}

// The paragraphs after the first line, which NAME has.
std::string Description(const CommandEntry& command) {
  std::string text = Roff(command.about);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 5)) {
    text.replace(at, 1, "\n.PP\n");
  }
  return text;
}

std::string Options(const CommandEntry& command) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    text += fmt::format(".TP\n.B {}\n{}", Roff(option.ToText()), Roff(option.help));
    if (!option.default_text.empty()) text += fmt::format(" [{}]", Roff(option.default_text));
    text += '\n';
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string Commands(const CommandEntry& program) {
  std::string text;
  for (const CommandEntry& command : program.commands) {
    text += fmt::format(".TP\n.B {}\n{}\n", Roff(command.name), Roff(command.summary));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

// What follows "Example: " or "Exit: " in the footer.
std::string FooterPart(const CommandEntry& command, std::string_view heading) {
  const size_t at = command.footer.find(heading);
  if (at == std::string::npos) return "";
  const size_t begin = at + heading.size();
  return command.footer.substr(begin, command.footer.find('\n', begin) - begin);
}

std::string Exit(const CommandEntry& command) {
  std::string text, rest = FooterPart(command, "Exit: ");
  while (!rest.empty()) {
    // ", 1 failed": a number begins each.
    size_t end = rest.size();
    for (size_t at = rest.find(", "); at != std::string::npos; at = rest.find(", ", at + 1)) {
      if (at + 2 < rest.size() && std::isdigit(static_cast<unsigned char>(rest[at + 2])) != 0) {
        end = at;
        break;
      }
    }
    const std::string part = rest.substr(0, end);
    const size_t space = std::min(part.find(' '), part.size());
    text += fmt::format(".TP\n.B {}\n{}\n", part.substr(0, space),
                        Roff(part.substr(std::min(space + 1, part.size()))));
    rest.erase(0, std::min(end + 2, rest.size()));
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string SeeAlso(const CommandEntry& program, const CommandEntry& command) {
  if (&program != &command) return fmt::format(".BR {} (1)", Roff(program.name));
  std::string text;
  for (const CommandEntry& each : program.commands) {
    text += fmt::format(".BR {} (1),\n", Roff(Dashed(CommandLine(program, each))));
  }
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

}  // namespace

std::string ManPageName(const CommandEntry& program, const CommandEntry& command) {
  return Dashed(CommandLine(program, command)) + ".1";
}

std::string ManPage(const CommandEntry& program, const CommandEntry& command) {
  const std::string name = Dashed(CommandLine(program, command));
  std::string summary = command.summary;
  if (summary.ends_with('.')) summary.pop_back();
  const std::string example = FooterPart(command, "Example: ");
  return fmt::format(".TH {} 1 \"\" \"stoker {}\" \"User Commands\"\n", Roff(Upper(name)),
                     Roff(STOKER_VERSION)) +
         Section("NAME", fmt::format("{} \\- {}", Roff(name), Roff(summary))) +
         Section("SYNOPSIS", Synopsis(program, command)) +
         Section("DESCRIPTION", Description(command)) + Section("COMMANDS", Commands(command)) +
         Section("OPTIONS", Options(command)) + Section("EXIT STATUS", Exit(command)) +
         Section("EXAMPLES", example.empty() ? "" : fmt::format(".nf\n{}\n.fi", Roff(example))) +
         Section("SEE ALSO", SeeAlso(program, command));
}

}  // namespace stoker
