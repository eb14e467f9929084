#include "stoker/tools/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stoker {
namespace {

enum class ValueKind { kFlag, kPath, kWords, kAsked, kOther };

struct Value {
  ValueKind kind = ValueKind::kFlag;
  std::vector<std::string> words;
  AskedWords asked = {};  // kAsked
};

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

Value ValueOf(const CommandEntry& program, const OptionEntry& option,
              const CompletionWords& words) {
  if (option.positional && option.names.front() == "COMMAND") {
    Value commands{ValueKind::kWords, {}};
    for (const CommandEntry& command : program.commands) commands.words.push_back(command.name);
    return commands;
  }
  if (option.positional && option.names.front() == "SHELL") {
    return {ValueKind::kWords, {kCompletionShells.begin(), kCompletionShells.end()}};
  }
  if (option.TakesPath()) return {ValueKind::kPath, {}};
  if (!option.positional && option.value.empty()) return {};
  const auto asked = std::ranges::find(kAskedWords, option.names.back(), &AskedWords::option);
  if (asked != kAskedWords.end()) return {ValueKind::kAsked, {}, *asked};
  const auto known = words.values.find(option.names.back());
  if (known != words.values.end()) return {ValueKind::kWords, known->second};
  std::vector<std::string> choices = option.Choices();
  if (!choices.empty()) return {ValueKind::kWords, std::move(choices)};
  return {ValueKind::kOther, {}};
}

std::vector<std::string> NamesOf(const std::vector<OptionEntry>& options) {
  std::vector<std::string> names;
  for (const OptionEntry& option : options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// In single quotes, for any of the shells; fish takes \' within them, the others '\''.
std::string Quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string(quote) : std::string(1, c);
  return out + "'";
}

// ---- bash

std::string BashAction(const Value& value) {
  switch (value.kind) {
    case ValueKind::kPath:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
    case ValueKind::kWords:
      return fmt::format("mapfile -t COMPREPLY < <(compgen -W {} -- \"$cur\")",
                         Quoted(Joined(value.words)));
    case ValueKind::kAsked:
      return fmt::format(
          "{}mapfile -t COMPREPLY < <(compgen {}-W \"$(stoker completion {} 2>/dev/null)\" -- "
          "\"$cur\")",
          value.asked.is_key ? "compopt -o nospace; " : "", value.asked.is_key ? "-S = " : "",
          value.asked.what);
    case ValueKind::kFlag:
    case ValueKind::kOther: break;
  }
  return "COMPREPLY=()";
}

std::string BashCommand(const CommandEntry& program, const CommandEntry& command,
                        const CompletionWords& words) {
  std::string text = fmt::format("    {})\n      case $prev in\n", command.name);
  Value argument{ValueKind::kOther, {}};
  for (const OptionEntry& option : command.options) {
    const Value value = ValueOf(program, option, words);
    if (option.positional) {
      if (argument.kind == ValueKind::kOther) argument = value;
    } else if (value.kind != ValueKind::kFlag) {
      text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, " | "),
                          BashAction(value));
    }
  }
  return text + fmt::format(
                    "      esac\n      if [[ $cur == -* ]]; then\n        mapfile -t COMPREPLY < "
                    "<(compgen -W {} -- \"$cur\")\n      else\n        {}\n      fi ;;\n",
                    Quoted(Joined(NamesOf(command.options))), BashAction(argument));
}

std::string BashScript(const CommandEntry& program, const CompletionWords& words) {
  std::vector<std::string> first = NamesOf(program.options);
  std::string commands;
  for (const CommandEntry& command : program.commands) {
    first.push_back(command.name);
    commands += BashCommand(program, command, words);
  }
  return fmt::format(
      "# Completion of stoker for bash 4.4 or later, made by `stoker completion bash`.\n"
      "_stoker() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W {} -- \"$cur\")\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "complete -F _stoker stoker\n",
      Quoted(Joined(first)), commands);
}

// ---- zsh

// A text within the brackets or colons of _arguments.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string ZshAction(const Value& value) {
  switch (value.kind) {
    case ValueKind::kPath: return "_files";
    case ValueKind::kWords: return fmt::format("({})", Joined(value.words));
    case ValueKind::kAsked: return fmt::format("_stoker_{}", value.asked.what);
    case ValueKind::kFlag:
    case ValueKind::kOther: break;
  }
  return " ";
}

// Offers what the program says when it is asked.
std::string ZshFunction(const AskedWords& asked) {
  return fmt::format(
      "_stoker_{0}() {{\n"
      "  local -a words=(${{(f)\"$(stoker completion {0} 2>/dev/null)\"}})\n"
      "  compadd{1} -a words\n"
      "}}\n",
      asked.what, asked.is_key ? " -S =" : "");
}

std::string ZshOption(const CommandEntry& program, const OptionEntry& option,
                      const CompletionWords& words) {
  const Value value = ValueOf(program, option, words);
  if (option.positional) {
    return Quoted(fmt::format("{}:{}:{}",
                              option.repeats    ? "*"
                              : option.required ? ""
                                                : ":",
                              ZshText(option.names.front()), ZshAction(value)));
  }
  std::string all;
  for (const std::string& name : option.names) {
    std::string spec = option.repeats ? "*" : fmt::format("({})", Joined(option.names));
    spec += fmt::format("{}[{}]", name, ZshText(option.help));
    if (value.kind != ValueKind::kFlag) {
      spec += fmt::format("{}:{}:{}", option.value_optional ? ":" : "", ZshText(option.value),
                          ZshAction(value));
    }
    all += (all.empty() ? "" : " ") + Quoted(spec);
  }
  return all;
}

std::string ZshOptions(const CommandEntry& program, const CommandEntry& command,
                       const CompletionWords& words, std::string_view indent) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    text += fmt::format(" \\\n{}{}", indent, ZshOption(program, option, words));
  }
  return text;
}

std::string ZshScript(const CommandEntry& program, const CompletionWords& words) {
  std::string names, cases, functions;
  for (const AskedWords& asked : kAskedWords) functions += ZshFunction(asked);
  for (const CommandEntry& command : program.commands) {
    names += fmt::format("        {}\n",
                         Quoted(fmt::format("{}:{}", command.name, ZshText(command.summary))));
    cases += fmt::format("        {}) _arguments -s{} ;;\n", command.name,
                         ZshOptions(program, command, words, "            "));
  }
  return fmt::format(
      "#compdef stoker\n"
      "# Completion of stoker for zsh, made by `stoker completion zsh`.\n"
      "{}"
      "_stoker() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  _arguments -C{} \\\n"
      "    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n{}      )\n"
      "      _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n{}"
      "      esac ;;\n"
      "  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _stoker ]]; then _stoker \"$@\"; else compdef _stoker stoker; fi\n",
      functions, ZshOptions(program, program, words, "    "), names, cases);
}

// ---- fish

std::string FishValue(const Value& value) {
  switch (value.kind) {
    case ValueKind::kPath: return " -r -F";
    case ValueKind::kWords: return fmt::format(" -x -a {}", Quoted(Joined(value.words), "\\'"));
    case ValueKind::kAsked:
      return fmt::format(" -x -a '(stoker completion {} 2>/dev/null{})'", value.asked.what,
                         value.asked.is_key ? " | string replace -r \"\\$\" =" : "");
    case ValueKind::kOther: return " -x";
    case ValueKind::kFlag: break;
  }
  return "";
}

std::string FishOption(std::string_view condition, const OptionEntry& option, const Value& value) {
  std::string line = fmt::format("complete -c stoker -n {}", Quoted(condition, "\\'"));
  if (option.positional) {
    if (value.kind == ValueKind::kPath) return line + " -F\n";
    return line + FishValue(value) + "\n";
  }
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return fmt::format("{}{} -d {}\n", line, FishValue(value), Quoted(option.help, "\\'"));
}

std::string FishScript(const CommandEntry& program, const CompletionWords& words) {
  constexpr std::string_view kFirst = "__fish_use_subcommand";
  std::string text =
      "# Completion of stoker for fish, made by `stoker completion fish`.\n"
      "complete -c stoker -f\n";
  for (const OptionEntry& option : program.options) {
    text += FishOption(kFirst, option, ValueOf(program, option, words));
  }
  for (const CommandEntry& command : program.commands) {
    text += fmt::format("complete -c stoker -n {} -a {} -d {}\n", kFirst, command.name,
                        Quoted(command.summary, "\\'"));
    const std::string within = "__fish_seen_subcommand_from " + command.name;
    for (const OptionEntry& option : command.options) {
      text += FishOption(within, option, ValueOf(program, option, words));
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(std::string_view shell, const CommandEntry& program,
                             const CompletionWords& words) {
  if (shell == "bash") return BashScript(program, words);
  return shell == "zsh" ? ZshScript(program, words) : FishScript(program, words);
}

}  // namespace stoker
