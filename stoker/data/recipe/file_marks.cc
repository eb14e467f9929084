#include "stoker/data/recipe/file_marks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "stoker/base/json_text.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"
#include "stoker/formats/offset_index/offset_index.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_file.h"

namespace stoker {
namespace {

constexpr size_t kMarked = 1024, kMarkedOnServers = 16;     // files of a source
constexpr uint64_t kWholeBytes = 64 << 10;                  // of a file that is read whole
constexpr uint64_t kWholeSourceBytes = uint64_t{64} << 20;  // of files that all are
constexpr uint64_t kPlaceBytes = 4 << 10;
constexpr uint64_t kFewestPlaces = 16, kMostPlaces = 1024;  // in a larger one
constexpr uint64_t kPlacesOfSource = 4096;
constexpr size_t kGroups = 4096;  // of files that share a checksum of their whole content

// Two checksums over the same bytes: one of 32 bits alone would be too weak.
struct Checksum {
  uint32_t castagnoli = 0, ieee = 0;

  void Add(std::span<const std::byte> bytes) {
    castagnoli = Crc32c(bytes, castagnoli);
    ieee = Crc32(bytes, ieee);
  }
  std::string ToString() const { return fmt::format("{:08x}{:08x}", castagnoli, ieee); }
};

// Reports what a full check has read.
class FullCheck {
 public:
  FullCheck(const Dataset& dataset, const CheckObserver& observer) : observer_(observer) {
    if (observer_) AddSizes(dataset);
  }
  void Read(uint64_t bytes) {
    progress_.bytes += bytes;
    if (observer_) observer_(progress_);
  }

 private:
  void AddSizes(const Dataset& dataset) {
    for (const Dataset& input : dataset.node().inputs()) AddSizes(input);
    for (const std::string& path : dataset.node().files()) {
      if (IsRemotePath(path) || IsStandardInput(path)) continue;
      const Result<FileStamp> stamp = StampOf(path);
      if (stamp.ok()) progress_.total += stamp->size;
    }
  }

  const CheckObserver& observer_;
  CheckProgress progress_;
};

//   full  called with what has been read; may be null
Status AddAll(const File& file, Checksum& sum, FullCheck* full) {
  std::vector<std::byte> piece(std::min<uint64_t>(file.size(), uint64_t{1} << 20));
  for (uint64_t at = 0; at < file.size();) {
    STOKER_ASSIGN_OR_RETURN(const size_t bytes, file.ReadUpTo(at, piece));
    if (bytes == 0) break;
    sum.Add(std::span(piece).first(bytes));
    at += bytes;
    if (full != nullptr) full->Read(bytes);
  }
  return OkStatus();
}

// The first and the last bytes of the file are in a place each.
Status AddPlaces(const File& file, uint64_t places, Checksum& sum) {
  std::array<std::byte, kPlaceBytes> place;
  for (uint64_t i = 0; i < places; ++i) {
    const uint64_t at = (file.size() - kPlaceBytes) * i / (places - 1);
    STOKER_ASSIGN_OR_RETURN(const size_t bytes, file.ReadUpTo(at, place));
    sum.Add(std::span(place).first(bytes));
  }
  return OkStatus();
}

// A pipe, or a directory in the place of a file, has no content of its own.
bool HasContent(const std::string& path) {
  if (IsStandardInput(path)) return false;
  if (IsRemotePath(path)) return true;
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  return type != std::filesystem::file_type::directory && type != std::filesystem::file_type::fifo;
}

// The place of a mark that a missing or damaged file has: a pass may skip it (on_error), so it is
// no error here. All other trouble is: it says nothing about the file.
Json NoMark() { return {{"missing", true}}; }

//   places  of a file that is not small; 0: it is read whole, however large
Result<Json> MarkLocally(const std::string& path, uint64_t places) {
  STOKER_ASSIGN_OR_RETURN(const FileStamp stamp, StampOf(path));
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  if (file.size() <= kWholeBytes) places = 0;
  Checksum sum;
  STOKER_RETURN_IF_ERROR(places == 0 ? AddAll(file, sum, nullptr) : AddPlaces(file, places, sum));
  return Json{{"bytes", file.size()},
              {"modified_ns", stamp.modified_ns},
              {"places", places},
              {"content", sum.ToString()}};
}

Result<Json> MarkRemotely(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const RemoteVersion version, RemoteFile::Find(path));
  return Json{{"version", version.ToString()}};
}

Result<Json> MarkOf(const std::string& path, uint64_t places) {
  if (!HasContent(path)) return Json::object();
  Result<Json> mark = IsRemotePath(path) ? MarkRemotely(path) : MarkLocally(path, places);
  if (!mark.ok() && IsAboutOneElement(mark.status())) return NoMark();
  return mark;
}

// In how many places each of these files is read that is not small; 0 if all are read whole.
Result<uint64_t> PlacesIn(const std::vector<std::string>& paths,
                          const std::vector<size_t>& chosen) {
  uint64_t bytes = 0;
  for (const size_t i : chosen) {
    if (IsRemotePath(paths[i]) || !HasContent(paths[i])) continue;
    const Result<FileStamp> stamp = StampOf(paths[i]);
    if (!stamp.ok() && !IsAboutOneElement(stamp.status())) return stamp.status();
    if (stamp.ok()) bytes += stamp->size;
  }
  if (bytes <= kWholeSourceBytes) return uint64_t{0};
  return std::clamp<uint64_t>(kPlacesOfSource / chosen.size(), kFewestPlaces, kMostPlaces);
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

// Adds what is known of a file to the checksum of its group.
Status AddContent(const std::string& path, Checksum& sum, FullCheck& full) {
  const auto add = [&sum](const std::string& text) { sum.Add(std::as_bytes(std::span(text))); };
  if (IsRemotePath(path)) {
    STOKER_ASSIGN_OR_RETURN(const RemoteVersion version, RemoteFile::Find(path));
    add(DumpJson(version.ToString()));
    return OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  STOKER_RETURN_IF_ERROR(AddAll(file, sum, &full));
  add(fmt::format("{}\n", file.size()));  // where the next file begins
  return OkStatus();
}

// Null if none of them has content that can be read.
Result<Json> WholeContentOf(std::span<const std::string> paths, FullCheck& full) {
  Checksum sum;
  size_t read = 0;
  for (const std::string& path : paths) {
    const Status added = HasContent(path) ? AddContent(path, sum, full) : NotFound("{}", path);
    if (!added.ok() && !IsAboutOneElement(added)) return added;
    read += added.ok() ? 1 : 0;
    sum.Add(std::as_bytes(std::span(std::string_view(added.ok() ? "read" : "not read"))));
  }
  return read == 0 ? Json() : Json(sum.ToString());
}

// The checksum of each file, or of each of kGroups groups of them.
Result<Json> WholeContents(const std::vector<std::string>& paths, const std::string& root,
                           FullCheck& full) {
  Json whole = Json::array();
  const size_t groups = std::min(paths.size(), kGroups);
  for (size_t i = 0; i < groups; ++i) {
    const size_t first = paths.size() * i / groups, last = paths.size() * (i + 1) / groups;
    STOKER_ASSIGN_OR_RETURN(Json content,
                            WholeContentOf(std::span(paths).subspan(first, last - first), full));
    whole.push_back({{"file", NameOf(paths[first], root)},
                     {"files", last - first},
                     {"content", std::move(content)}});
  }
  return whole;
}

bool IsStage(const DatasetNode& node) { return node.element_wise() != nullptr; }

Result<Json> MarkSource(const DatasetNode& node, const std::vector<std::string>& paths,
                        const std::string& root, FullCheck* full) {
  Checksum names;
  for (const std::string& path : paths) {
    const std::string name = NameOf(path, root);
    names.Add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  }
  Json marks = Json::array();
  const std::vector<size_t> chosen = Chosen(paths);
  STOKER_ASSIGN_OR_RETURN(const uint64_t places, PlacesIn(paths, chosen));
  for (const size_t i : chosen) {
    STOKER_ASSIGN_OR_RETURN(Json mark, MarkOf(paths[i], places));
    mark["file"] = NameOf(paths[i], root);
    marks.push_back(std::move(mark));
  }
  Json source = {{"source", node.name()},
                 {"files", paths.size()},
                 {"names", names.ToString()},
                 {"marks", std::move(marks)}};
  if (IsStage(node)) source["stage"] = true;
  if (full != nullptr) {
    STOKER_ASSIGN_OR_RETURN(source["whole"], WholeContents(paths, root, *full));
  }
  return source;
}

struct MarkedFiles {
  const std::string root;
  bool sources = true;        // else stages alone
  FullCheck* full = nullptr;  // may be null
};

Status MarkInto(const Dataset& dataset, const MarkedFiles& marked, Json& sources) {
  for (const Dataset& input : dataset.node().inputs())
    STOKER_RETURN_IF_ERROR(MarkInto(input, marked, sources));
  if (!marked.sources && !IsStage(dataset.node())) return OkStatus();
  const std::vector<std::string> paths = dataset.node().files();
  if (paths.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(Json source, MarkSource(dataset.node(), paths, marked.root, marked.full));
  sources.push_back(std::move(source));
  return OkStatus();
}

}  // namespace

Result<DataCheck> ParseDataCheck(std::string_view text) {
  if (text == "places") return DataCheck::kPlaces;
  if (text == "full") return DataCheck::kFull;
  return InvalidArgument("'{}' is no check of data; it must be places or full", text);
}

Result<Json> MarkFiles(const Dataset& dataset, const std::filesystem::path& root, DataCheck check,
                       const CheckObserver& observer) {
  // Passing trouble is waited for, as in a pass; a scope of the caller, if any, ends the wait.
  const StopScope retries([] { return false; });
  Json sources = Json::array();
  std::optional<FullCheck> full;
  if (check == DataCheck::kFull) full.emplace(dataset, observer);
  STOKER_RETURN_IF_ERROR(MarkInto(
      dataset, {.root = root.string(), .full = full.has_value() ? &*full : nullptr}, sources));
  return sources;
}

Result<Json> MarkStageFiles(const Dataset& dataset, const std::filesystem::path& root) {
  const StopScope retries([] { return false; });
  Json stages = Json::array();
  STOKER_RETURN_IF_ERROR(MarkInto(dataset, {.root = root.string(), .sources = false}, stages));
  return stages;
}

}  // namespace stoker
