#include "stoker/tools/compare/run_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "stoker/base/json_text.h"
#include "stoker/data/recipe/file_changes.h"
#include "stoker/io/sha256.h"

namespace stoker {
namespace {

// The line of the value at a path such as "data.train.3.batch.size"; 0 if it is not there. A key
// may have dots in it, so the longest that fits is taken.
int LineOf(const ConfigNode& node, std::string_view path) {
  if (path.empty()) return node.location.line;
  if (node.kind == ConfigNode::Kind::kList) {
    const size_t dot = std::min(path.find('.'), path.size());
    size_t index = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + dot, index);
    if (error != std::errc() || end != path.data() + dot || index >= node.items.size()) return 0;
    return LineOf(node.items[index], path.substr(std::min(dot + 1, path.size())));
  }
  for (size_t end = path.size(); end != std::string_view::npos && end > 0;
       end = path.rfind('.', end - 1)) {
    const ConfigNode* const value = node.Find(path.substr(0, end));
    if (value == nullptr) continue;
    return LineOf(*value, path.substr(std::min(end + 1, path.size())));
  }
  return 0;
}

std::vector<RecipeDifference> CompareRecipesOf(const RunRecord& before, const RunRecord& after) {
  std::vector<RecipeDifference> found;
  for (std::string& change : Differences(before.recipe, after.recipe)) {
    const std::string path = change.substr(0, change.find(": "));
    found.push_back({.change = std::move(change),
                     .line_before = LineOf(before.recipe, path),
                     .line_after = LineOf(after.recipe, path)});
  }
  return found;
}

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::string OrUnknown(int64_t number) {
  return number == 0 ? "unknown" : fmt::format("{}", number);
}

template <typename T>
void AddIfDifferent(std::string_view name, const T& before, const T& after, DifferenceList& list) {
  if (before == after) return;
  list.differences.push_back(
      fmt::format("{}: {} -> {}", name, OrUnknown(before), OrUnknown(after)));
}

std::string NotRecorded(bool before, bool after) {
  const std::string_view whose = before  ? "the second run does"
                                 : after ? "the first run does"
                                         : "the runs do";
  return fmt::format("{} not say, as runs of versions before", whose);
}

void CompareEnvironments(const RunRecord& before, const RunRecord& after, RunDifferences& out) {
  if (!before.environment || !after.environment) {
    out.code.unknown = out.machine.unknown =
        NotRecorded(before.environment.has_value(), after.environment.has_value());
    return;
  }
  const RunEnvironment &a = *before.environment, &b = *after.environment;
  AddIfDifferent("stoker", a.stoker, b.stoker, out.code);
  // Shortened, as commits are.
  AddIfDifferent("build", a.build.substr(0, 12), b.build.substr(0, 12), out.code);
  AddIfDifferent("torch", a.torch, b.torch, out.code);
  AddIfDifferent("host", a.host, b.host, out.machine);
  AddIfDifferent("device", a.device, b.device, out.machine);
  AddIfDifferent("cpu", a.cpu, b.cpu, out.machine);
  AddIfDifferent("instruction set", a.instruction_set, b.instruction_set, out.machine);
  AddIfDifferent("cpus", int64_t{a.cpus}, int64_t{b.cpus}, out.machine);
  AddIfDifferent("memory in bytes", a.memory_bytes, b.memory_bytes, out.machine);
  AddIfDifferent("kernel", a.kernel, b.kernel, out.machine);
}

void CompareChoices(const RunRecord& before, const RunRecord& after, DifferenceList& list) {
  if (!before.choices || !after.choices) {
    const bool neither = !before.choices && !after.choices;
    list.unknown =
        neither ? "the runs have not chosen yet"
                : fmt::format("the {} run has not chosen yet", before.choices ? "second" : "first");
    return;
  }
  const Json a = before.choices->ToJson(), b = after.choices->ToJson();
  for (const auto& [key, value] : a.items()) {
    const Json now = b.value(key, Json());
    if (now != value)
      list.differences.push_back(fmt::format("{}: {} -> {}", key, DumpJson(value), DumpJson(now)));
  }
}

// Whether CompareFiles may be given it: what MarkFiles writes, of any version.
bool AreMarks(const Json& marks) {
  const auto is_text = [](const Json& object, const char* key) {
    return object.contains(key) && object[key].is_string();
  };
  return marks.is_array() && std::ranges::all_of(marks, [&](const Json& source) {
           return source.is_object() && is_text(source, "source") && is_text(source, "names") &&
                  source.contains("files") && source["files"].is_number_integer() &&
                  source.contains("marks") && source["marks"].is_array() &&
                  std::ranges::all_of(source["marks"], [&](const Json& mark) {
                    return mark.is_object() && is_text(mark, "file");
                  });
         });
}

// What CompareFiles reads without a look, which an older version or damage may have left out.
Json Completed(Json marks) {
  for (Json& source : marks) {
    source.erase("whole");  // the checksums of the marks find what they would
    for (Json& mark : source["marks"]) {
      if (!mark.contains("places")) mark["places"] = nullptr;
    }
  }
  return marks;
}

std::string SourcesOf(const Json& marks) {
  std::string names;
  for (const Json& source : marks)
    names += (names.empty() ? "" : ", ") + source["source"].get<std::string>();
  return names.empty() ? "no files" : names;
}

std::vector<std::string> ComparePipeline(const Json& before, const Json& after) {
  if (SourcesOf(before) != SourcesOf(after))
    return {fmt::format("reads {}, it read {}", SourcesOf(after), SourcesOf(before))};
  const Json a = Completed(before), b = Completed(after);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool as_many =
        a[i]["files"] != b[i]["files"] || a[i]["marks"].size() == b[i]["marks"].size();
    if (!as_many) return {"has other marks, which cannot be compared"};
  }
  FileChanges changes = CompareFiles(a, b);
  if (changes.changed.empty()) return {"has other marks, which cannot be compared"};
  return std::move(changes.changed);
}

void CompareDataOf(const RunRecord& before, const RunRecord& after, DifferenceList& list) {
  if (!before.data || !after.data) {
    list.unknown = NotRecorded(before.data.has_value(), after.data.has_value());
    return;
  }
  const Json a = DataFingerprints(*before.data), b = DataFingerprints(*after.data);
  if (a.is_null() || b.is_null()) {
    list.unknown =
        fmt::format("data.json of the {} run is damaged", a.is_null() ? "first" : "second");
    return;
  }
  std::set<std::string> pipelines;
  for (const Json& each : {a, b}) {
    for (const auto& [name, fingerprint] : each.items()) pipelines.insert(name);
  }
  for (const std::string& name : pipelines) {
    if (a.value(name, Json()) == b.value(name, Json())) continue;
    if (!a.contains(name) || !b.contains(name)) {
      list.differences.push_back(fmt::format("data.{}: only the {} run has it", name,
                                             a.contains(name) ? "first" : "second"));
      continue;
    }
    for (const std::string& change : ComparePipeline((*before.data)[name], (*after.data)[name]))
      list.differences.push_back(fmt::format("data.{}: {}", name, change));
  }
}

}  // namespace

Json DataFingerprints(const Json& marks) {
  if (!marks.is_object()) return nullptr;
  Json out = Json::object();
  for (const auto& [name, sources] : marks.items()) {
    if (!AreMarks(sources)) return nullptr;
    int64_t files = 0;
    Json same = sources;
    for (Json& source : same) {
      files += source["files"].get<int64_t>();
      source.erase("whole");
      for (Json& mark : source["marks"]) mark.erase("modified_ns");
    }
    out[name] = {{"files", files}, {"fingerprint", HexOf(Sha256(DumpJson(same))).substr(0, 16)}};
  }
  return out;
}

RunDifferences FindDifferences(const RunRecord& before, const RunRecord& after) {
  RunDifferences out;
  out.recipe = CompareRecipesOf(before, after);
  CompareEnvironments(before, after, out);
  CompareChoices(before, after, out.choices);
  CompareDataOf(before, after, out.data);
  return out;
}

Json DifferenceList::ToJson() const { return unknown.empty() ? Json(differences) : Json(); }

Json RunDifferences::ToJson() const {
  const auto line = [](int number) { return number > 0 ? Json(number) : Json(); };
  Json changes = Json::array();
  for (const RecipeDifference& each : recipe) {
    changes.push_back({{"change", each.change},
                       {"line_before", line(each.line_before)},
                       {"line_after", line(each.line_after)}});
  }
  return {{"recipe", changes},
          {"code", code.ToJson()},
          {"machine", machine.ToJson()},
          {"choices", choices.ToJson()},
          {"data", data.ToJson()}};
}

}  // namespace stoker
