// Reads recordings of py-spy, and the lines of the scripts that they name.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "stoker/base/json.h"
#include "stoker/base/proc_text.h"
#include "stoker/tools/foreign/stack_recorder.h"

namespace stoker {
namespace {

// Files of Python itself and of installed packages.
bool IsLibrary(std::string_view file) {
  for (const char* part :
       {"/site-packages/", "/dist-packages/", "/lib/python", "/torch/", "<frozen"}) {
    if (file.find(part) != file.npos) return true;
  }
  return file.empty() || file.starts_with('<');
}

StackFrame FrameOf(const Json& json, const std::filesystem::path& folder) {
  StackFrame frame{.function = json.value("name", ""),
                   .file = json.contains("file") && json["file"].is_string()
                               ? json["file"].get<std::string>()
                               : std::string()};
  if (json.contains("line") && json["line"].is_number_integer()) frame.line = json["line"];
  frame.own = !IsLibrary(frame.file);
  const std::string prefix = folder.string() + "/";
  if (frame.own && frame.file.starts_with(prefix)) frame.file.erase(0, prefix.size());
  return frame;
}

// "Process 3880 Thread 3922 "Thread-1 (work)"": both numbers, or zeros.
std::pair<int64_t, int64_t> NumbersIn(std::string_view name) {
  const auto number = [&name](std::string_view word) -> int64_t {
    const size_t place = name.find(word);
    if (place == name.npos) return 0;
    int64_t value = 0;
    const char* const begin = name.data() + place + word.size();
    std::from_chars(begin, name.data() + name.size(), value);
    return value;
  };
  return {number("Process "), number("Thread ")};
}

// The integer after `key` and "=" at or behind `begin`; a name is looked up where it is set.
std::optional<int64_t> ArgumentIn(std::string_view source, std::string_view call,
                                  std::string_view key, int depth = 0) {
  const size_t place = call.find(key);
  if (place == call.npos) return std::nullopt;
  std::string_view rest = Trimmed(call.substr(place + key.size()));
  if (!rest.starts_with('=')) return std::nullopt;
  rest = Trimmed(rest.substr(1));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc() && end != rest.data()) return value;
  const size_t length = static_cast<size_t>(
      std::ranges::find_if(
          rest,
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; }) -
      rest.begin());
  if (length == 0 || depth > 0) return std::nullopt;
  const std::string name(rest.substr(0, length));
  // Where it stands at the beginning of a line.
  for (const std::string_view line : SplitLines(source)) {
    const std::string_view text = Trimmed(line);
    if (text.starts_with(name) && Trimmed(text.substr(name.size())).starts_with('='))
      return ArgumentIn(source, text, name, depth + 1);
  }
  return std::nullopt;
}

// A call's text, up to the parenthesis that closes it.
std::string_view CallAt(std::string_view source, size_t begin) {
  int open = 0;
  for (size_t i = begin; i < source.size(); ++i) {
    if (source[i] == '(') ++open;
    if (source[i] == ')' && --open == 0) return source.substr(begin, i + 1 - begin);
  }
  return source.substr(begin);
}

}  // namespace

Result<PythonStacks> ParseSpeedscope(std::string_view text, const std::filesystem::path& folder) {
  const auto damaged = [] {
    return DataLoss("py-spy's recording is not in the form of speedscope");
  };
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("shared") || !json.contains("profiles") ||
      !json["profiles"].is_array() || !json["shared"].is_object() ||
      !json["shared"].contains("frames") || !json["shared"]["frames"].is_array()) {
    return damaged();
  }
  std::vector<StackFrame> frames;
  for (const Json& each : json["shared"]["frames"]) {
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) return damaged();
    frames.push_back(FrameOf(each, folder));
  }
  PythonStacks stacks;
  std::map<std::vector<int64_t>, int64_t> known;
  for (const Json& profile : json["profiles"]) {
    if (!profile.is_object() || !profile.contains("samples") || !profile["samples"].is_array())
      return damaged();
    PythonThread thread;
    const Json name = profile.value("name", Json());
    if (name.is_string()) std::tie(thread.pid, thread.id) = NumbersIn(name.get<std::string>());
    for (const Json& sample : profile["samples"]) {
      std::vector<int64_t> numbers;
      if (!sample.is_array()) return damaged();
      for (const Json& each : sample) {
        if (!each.is_number_unsigned() || each.get<uint64_t>() >= frames.size()) return damaged();
        // "process 3880:..." and "thread (3922): ..." have no file.
        if (!frames[each.get<size_t>()].file.empty()) numbers.push_back(each.get<int64_t>());
      }
      const auto [place, is_new] = known.try_emplace(numbers, std::ssize(stacks.stacks));
      if (is_new) {
        std::vector<StackFrame> stack;
        for (const int64_t i : numbers) stack.push_back(frames[static_cast<size_t>(i)]);
        stacks.stacks.push_back(std::move(stack));
      }
      thread.samples.push_back(place->second);
    }
    stacks.threads.push_back(std::move(thread));
  }
  return stacks;
}

void DisownInstalledPackages(PythonStacks& stacks) {
  std::map<std::filesystem::path, bool> known;
  const auto holds_packages = [&known](const std::filesystem::path& folder) {
    const auto [place, is_new] = known.try_emplace(folder);
    if (!is_new) return place->second;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".dist-info") return place->second = true;
    }
    return false;
  };
  for (std::vector<StackFrame>& stack : stacks.stacks) {
    for (StackFrame& frame : stack) {
      const std::filesystem::path file = frame.file;
      if (!frame.own || !file.is_absolute()) continue;
      for (auto folder = file.parent_path(); frame.own && folder.has_relative_path();
           folder = folder.parent_path())
        frame.own = !holds_packages(folder);
    }
  }
}

void AddSourceLines(const std::filesystem::path& folder, PythonStacks& stacks) {
  constexpr size_t kMost = 120;
  std::map<std::string, std::vector<std::string>> files;
  for (std::vector<StackFrame>& stack : stacks.stacks) {
    for (StackFrame& frame : stack) {
      if (!frame.own) continue;
      const auto [file, is_new] = files.try_emplace(frame.file);
      if (is_new) {
        const std::string text = ReadSmallText(folder / frame.file);
        for (const std::string_view line : SplitLines(text))
          file->second.emplace_back(Trimmed(line));
      }
      if (frame.line < 1 || frame.line > std::ssize(file->second)) continue;
      frame.text = file->second[static_cast<size_t>(frame.line - 1)].substr(0, kMost);
    }
  }
}

LoaderFacts FindLoaderIn(std::string_view source, const std::string& name) {
  const auto place_of = [&](size_t begin) {
    return fmt::format("{}:{}", name, 1 + std::ranges::count(source.substr(0, begin), '\n'));
  };
  const size_t place = source.find("DataLoader(");
  if (place == source.npos) {
    if (source.find("tf.data") == source.npos) return {};
    constexpr std::string_view kMap = ".map(";
    for (size_t map = source.find(kMap); map != source.npos; map = source.find(kMap, map + 1)) {
      if (CallAt(source, map).find("num_parallel_calls") == std::string_view::npos)
        return {.serial_map = place_of(map)};
    }
    return {};
  }
  const std::string_view call = CallAt(source, place);
  return {.place = place_of(place),
          .num_workers = ArgumentIn(source, call, "num_workers"),
          .batch_size = ArgumentIn(source, call, "batch_size")};
}

LoaderFacts FindLoader(const std::filesystem::path& folder, const PythonStacks& stacks) {
  std::map<std::string, bool> seen;
  for (const std::vector<StackFrame>& stack : stacks.stacks) {
    for (const StackFrame& frame : stack) {
      if (!frame.own || !seen.emplace(frame.file, true).second) continue;
      LoaderFacts facts = FindLoaderIn(ReadSmallText(folder / frame.file), frame.file);
      if (!facts.place.empty() || !facts.serial_map.empty()) return facts;
    }
  }
  return {};
}

}  // namespace stoker
