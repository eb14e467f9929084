#include "stoker/data/recipe/file_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "stoker/base/json_text.h"

namespace stoker {
namespace {

constexpr size_t kNamed = 5;  // changes

bool IsStage(const Json& source) { return source.is_object() && source.contains("stage"); }

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

// Compares the marks of files with the same name.
void CompareMarks(const Json& before, const Json& now, FileChanges& changes) {
  const std::string& file = now["file"].get_ref<const std::string&>();
  const auto differs = [&](const char* key) {
    return before.contains(key) && now.contains(key) && before[key] != now[key];
  };
  // Earlier versions read large files at other offsets, without recording them.
  const bool comparable = before.value("places", Json()) == now.value("places", Json());
  const bool missed = before.contains("missing"), misses = now.contains("missing");
  if (misses && !missed && before.size() > 1) {
    changes.changed.push_back(fmt::format("{} can no longer be read", file));
  } else if (missed && !misses) {
    changes.changed.push_back(fmt::format("{} can be read, which it could not before", file));
  } else if (differs("version")) {
    changes.changed.push_back(fmt::format("{} is now {}, it was {}", file, TextOf(now["version"]),
                                          TextOf(before["version"])));
  } else if (differs("bytes")) {
    changes.changed.push_back(fmt::format("{} has {} bytes, it had {}", file, now["bytes"].dump(),
                                          before["bytes"].dump()));
  } else if (differs("content") && comparable) {
    changes.changed.push_back(
        fmt::format("{} has other content, in {} bytes as before", file, now["bytes"].dump()));
  } else if (differs("modified_ns") && (!comparable || now["places"] != 0)) {
    changes.touched.push_back(file);
  }
}

// False if either has no checksums of whole contents: then the marks decide.
bool CompareWhole(const Json& before, const Json& now, FileChanges& changes) {
  const Json &whole_before = before.value("whole", Json()), &whole_now = now.value("whole", Json());
  if (!whole_before.is_array() || !whole_now.is_array() ||
      whole_before.size() != whole_now.size()) {
    return false;
  }
  for (size_t i = 0; i < whole_now.size(); ++i) {
    const Json& group = whole_now[i];
    if (!whole_before[i].is_object() || !whole_before[i].contains("content")) continue;
    const Json& was = whole_before[i]["content"];
    if (was == group["content"]) continue;
    const std::string file = group["file"].get<std::string>();
    const auto others = group["files"].get<size_t>() - 1;
    changes.changed.push_back(fmt::format(
        "{}{} {}", file,
        others == 0 ? "" : fmt::format(" or one of the {} files that follow it", others),
        group["content"].is_null() ? "can no longer be read"
        : was.is_null()            ? "can be read, which it could not before"
                                   : "has other content"));
  }
  return true;
}

void CompareSources(const Json& before, const Json& now, FileChanges& changes) {
  const std::string source = now["source"].get<std::string>();
  if (before["files"] != now["files"]) {
    changes.changed.push_back(fmt::format("{} reads {} files, it read {}", source,
                                          now["files"].dump(), before["files"].dump()));
    return;
  }
  const Json &marks_before = before["marks"], &marks_now = now["marks"];
  const auto name = [](const Json& mark) { return mark["file"].get<std::string>(); };
  if (before["names"] != now["names"]) {
    size_t i = 0;
    while (i + 1 < marks_now.size() && name(marks_before[i]) == name(marks_now[i])) ++i;
    changes.changed.push_back(name(marks_before[i]) != name(marks_now[i])
                                  ? fmt::format("{} reads {} in the place of {}", source,
                                                name(marks_now[i]), name(marks_before[i]))
                                  : fmt::format("{} reads files of other names", source));
    return;
  }
  if (!CompareWhole(before, now, changes)) {
    for (size_t i = 0; i < marks_now.size(); ++i)
      CompareMarks(marks_before[i], marks_now[i], changes);
  }
}

// Whether two stages were made from files of the same content, whatever their names.
bool SameContent(const Json& before, const Json& now) {
  const auto same = [](const Json& a, const Json& b) {
    return a.is_object() &&
           std::ranges::all_of(std::array{"bytes", "content", "version"}, [&](const char* key) {
             return a.value(key, Json()) == b.value(key, Json());
           });
  };
  return before.contains("marks") && before["marks"].is_array() &&
         std::ranges::equal(before["marks"], now["marks"], same);
}

// Earlier versions have not marked stages.
Json WithoutUnknownStages(const Json& before, Json now) {
  if (!before.is_array() || std::ranges::any_of(before, [](const Json& s) { return IsStage(s); }))
    return now;
  Json known = Json::array();
  for (Json& source : now)
    if (!IsStage(source)) known.push_back(std::move(source));
  return known;
}

// Whether they are marks of the same number of sources of the same kinds.
bool Comparable(const Json& before, const Json& now) {
  const auto is_source = [](const Json& a, const Json& b) {
    return a.is_object() && a.value("source", Json()) == b["source"] && a.contains("files") &&
           a.contains("names") && a.contains("marks") && a["marks"].is_array() &&
           (a["files"] != b["files"] || a["marks"].size() == b["marks"].size()) &&
           std::ranges::all_of(a["marks"], [](const Json& mark) {
             return mark.is_object() && mark.contains("file") && mark["file"].is_string();
           });
  };
  return before.is_array() && before.size() == now.size() &&
         std::ranges::equal(before, now, is_source);
}

void Shorten(std::vector<std::string>& names) {
  if (names.size() <= kNamed) return;
  const size_t more = names.size() - kNamed;
  names.resize(kNamed);
  names.push_back(fmt::format("and {} more", more));
}

}  // namespace

bool HaveFullCheck(const Json& marks) {
  return marks.is_array() && std::ranges::all_of(marks, [](const Json& source) {
           return source.is_object() && source.contains("whole");
         });
}

void KeepFullCheck(const Json& before, Json& now) {
  if (!Comparable(before, now)) return;
  for (size_t i = 0; i < now.size(); ++i) {
    if (before[i].contains("whole") && !now[i].contains("whole"))
      now[i]["whole"] = before[i]["whole"];
  }
}

FileChanges CompareFiles(const Json& before, const Json& all_now) {
  FileChanges changes;
  const Json now = WithoutUnknownStages(before, all_now);
  if (!Comparable(before, now)) return changes;
  for (size_t i = 0; i < now.size(); ++i) CompareSources(before[i], now[i], changes);
  Shorten(changes.changed);
  Shorten(changes.touched);
  return changes;
}

std::optional<std::string> FindOtherStageFile(const Json& trained, const Json& now) {
  for (const Json& stage : now) {
    std::vector<const Json*> alike, namesakes;  // stages of the kind; of these those of its file
    for (const Json& pipeline : trained) {
      for (const Json& before : pipeline) {
        if (!IsStage(before) || before.value("source", Json()) != stage["source"]) continue;
        alike.push_back(&before);
        if (before.value("names", Json()) == stage["names"]) namesakes.push_back(&before);
      }
    }
    const std::vector<const Json*>& known = namesakes.empty() ? alike : namesakes;
    const auto same = [&](const Json* before) { return SameContent(*before, stage); };
    if (known.empty() || std::ranges::any_of(known, same)) continue;
    return fmt::format("{}: {}", stage["source"].get<std::string>(),
                       stage["marks"][0]["file"].get<std::string>());
  }
  return std::nullopt;
}

}  // namespace stoker
