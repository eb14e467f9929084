#include "stoker/data/file_marks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "stoker/base/remote_path.h"
#include "stoker/formats/offset_index/offset_index.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {
namespace {

constexpr size_t kMarked = 256, kMarkedOnServers = 16;  // files of a source
constexpr uint64_t kWholeBytes = 64 << 10;              // of a file that is read whole
constexpr uint64_t kPlaces = 16;                        // in a larger one
constexpr uint64_t kPlaceBytes = kWholeBytes / kPlaces;
constexpr size_t kNamed = 5;  // changes

// Two checksums over the same bytes: one of 32 bits alone would be too weak.
struct Checksum {
  uint32_t castagnoli = 0, ieee = 0;

  void Add(std::span<const std::byte> bytes) {
    castagnoli = Crc32c(bytes, castagnoli);
    ieee = Crc32(bytes, ieee);
  }
  std::string ToString() const { return fmt::format("{:08x}{:08x}", castagnoli, ieee); }
};

Result<std::string> ContentOf(const File& file) {
  std::array<std::byte, kPlaceBytes> place;
  Checksum sum;
  // The places of a small file lie side by side.
  const uint64_t last = file.size() - std::min(file.size(), kPlaceBytes);
  for (uint64_t i = 0; i < kPlaces; ++i) {
    const uint64_t at = file.size() > kWholeBytes ? last * i / (kPlaces - 1) : kPlaceBytes * i;
    if (at >= file.size()) break;
    STOKER_ASSIGN_OR_RETURN(const size_t bytes, file.ReadUpTo(at, place));
    sum.Add(std::span(place).first(bytes));
  }
  return sum.ToString();
}

Result<Json> MarkLocally(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const FileStamp stamp, StampOf(path));
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  STOKER_ASSIGN_OR_RETURN(std::string content, ContentOf(file));
  return Json{
      {"bytes", file.size()}, {"modified_ns", stamp.modified_ns}, {"content", std::move(content)}};
}

Json MarkOf(const std::string& path) {
  if (IsStandardInput(path)) return Json::object();
  if (IsRemotePath(path)) {
    const Result<RemoteVersion> version = RemoteFile::Find(path);
    return version.ok() ? Json{{"version", version->ToString()}} : Json::object();
  }
  Result<Json> mark = MarkLocally(path);
  return mark.ok() ? *std::move(mark) : Json::object();
}

// A path below `root` relative to it; without what may be secret.
std::string NameOf(const std::string& given, const std::string& folder) {
  const std::string path = NameForMessages(given);
  const std::string root = folder.empty() ? "" : NameForMessages(folder);
  if (!root.empty() && path.size() > root.size() && path.starts_with(root)) {
    const std::string_view below = std::string_view(path).substr(root.size());
    if (root.ends_with('/')) return std::string(below);
    if (below.starts_with('/')) return std::string(below.substr(1));
  }
  return path;
}

// The marks of the files numbered so are kept, first and last among them.
std::vector<size_t> Chosen(const std::vector<std::string>& paths) {
  const size_t most = IsRemotePath(paths.front()) ? kMarkedOnServers : kMarked;
  const size_t count = std::min(paths.size(), most);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) {
    chosen.push_back(count == 1 ? 0 : i * (paths.size() - 1) / (count - 1));
  }
  return chosen;
}

Json MarkSource(const DatasetNode& node, const std::vector<std::string>& paths,
                const std::string& root) {
  Checksum names;
  for (const std::string& path : paths) {
    const std::string name = NameOf(path, root);
    names.Add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  }
  Json marks = Json::array();
  for (const size_t i : Chosen(paths)) {
    Json mark = MarkOf(paths[i]);
    mark["file"] = NameOf(paths[i], root);
    marks.push_back(std::move(mark));
  }
  return {{"source", node.name()},
          {"files", paths.size()},
          {"names", names.ToString()},
          {"marks", std::move(marks)}};
}

void MarkInto(const Dataset& dataset, const std::string& root, Json& sources) {
  for (const Dataset& input : dataset.node().inputs()) MarkInto(input, root, sources);
  const std::vector<std::string> paths = dataset.node().files();
  if (!paths.empty()) sources.push_back(MarkSource(dataset.node(), paths, root));
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Of files with one name.
void CompareMarks(const Json& before, const Json& now, FileChanges& changes) {
  const std::string& file = now["file"].get_ref<const std::string&>();
  const auto differs = [&](const char* key) {
    return before.contains(key) && now.contains(key) && before[key] != now[key];
  };
  if (before.size() > 1 && now.size() == 1) {
    changes.changed.push_back(fmt::format("{} can no longer be read", file));
  } else if (differs("version")) {
    changes.changed.push_back(fmt::format("{} is now {}, it was {}", file, TextOf(now["version"]),
                                          TextOf(before["version"])));
  } else if (differs("bytes")) {
    changes.changed.push_back(fmt::format("{} has {} bytes, it had {}", file, now["bytes"].dump(),
                                          before["bytes"].dump()));
  } else if (differs("content")) {
    changes.changed.push_back(
        fmt::format("{} has other content, in {} bytes as before", file, now["bytes"].dump()));
  } else if (differs("modified_ns") && now["bytes"] > kWholeBytes) {
    changes.touched.push_back(file);
  }
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
  for (size_t i = 0; i < marks_now.size(); ++i)
    CompareMarks(marks_before[i], marks_now[i], changes);
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

Json MarkFiles(const Dataset& dataset, const std::filesystem::path& root) {
  Json sources = Json::array();
  MarkInto(dataset, root.string(), sources);
  return sources;
}

FileChanges CompareFiles(const Json& before, const Json& now) {
  FileChanges changes;
  if (!Comparable(before, now)) return changes;
  for (size_t i = 0; i < now.size(); ++i) CompareSources(before[i], now[i], changes);
  Shorten(changes.changed);
  Shorten(changes.touched);
  return changes;
}

}  // namespace stoker
