#include "stoker/formats/hdf5/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/formats/hdf5/dataset_internal.h"
#include "stoker/formats/hdf5/links_internal.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/io/file_bytes.h"

namespace stoker {
namespace {

using internal::Hdf5Content;
using internal::Hdf5Cursor;
using internal::Hdf5Link;
using internal::Hdf5Object;
using internal::kNoAddress;

constexpr std::string_view kSignature{"\x89HDF\r\n\x1a\n", 8};
constexpr std::string_view kSuperblock = "the superblock";

// It is at the file's beginning, or after a user block of 512 bytes or a power of 2 of them.
std::optional<uint64_t> FindSuperblock(const Hdf5Content& file) {
  for (uint64_t at = 0; file.Holds(at, kSignature.size()); at = at == 0 ? 512 : 2 * at) {
    if (Hdf5Cursor(file, at).Take(kSignature)) return at;
  }
  return std::nullopt;
}

bool IsNumberSize(int bytes) { return bytes == 2 || bytes == 4 || bytes == 8; }

Status NoHdf5(const Hdf5Content& file) {
  const auto start = file.bytes.first(std::min(file.bytes.size(), kProbeBytes));
  STOKER_RETURN_IF_ERROR(file.file.Load(0, start.size()));
  return DataLoss("{}: byte 0: this is {}, not an HDF5 file; check the path", file.name,
                  DescribeStart(start));
}

Status CheckEnd(const Hdf5Content& file, uint64_t end) {
  if (end <= file.bytes.size()) return OkStatus();
  return DataLoss(
      "{}: byte {}: the file says that it ends at {}; it was cut short, or is still being written: "
      "copy or write it again",
      file.name, file.bytes.size(), end);
}

// Reads the sizes of numbers into `file`; gives where the root group is.
Result<uint64_t> ReadSuperblock(Hdf5Content& file) {
  const std::optional<uint64_t> found = FindSuperblock(file);
  if (!found) return NoHdf5(file);
  file.base = *found;
  Hdf5Cursor in(file, *found);
  in.Take(kSignature);
  const uint8_t version = in.U8();
  if (version > 3) {
    return Unimplemented(
        "{}: byte {}: a superblock of version {}, known are 0 to 3; h5repack "
        "writes the file as an older one",
        file.name, *found, version);
  }
  if (version < 2) in.Skip(4);  // versions of parts
  file.address_bytes = in.U8();
  file.length_bytes = in.U8();
  if (!IsNumberSize(file.address_bytes) || !IsNumberSize(file.length_bytes)) in.Fail();
  STOKER_RETURN_IF_ERROR(in.Check(*found, kSuperblock));
  in.Skip(version < 2 ? 9 : 1);  // a reserved byte, nodes of trees, flags
  if (version == 1) in.Skip(4);
  in.Number(file.address_bytes);  // the base, which is where the superblock is
  in.Number(file.address_bytes);  // of free space, or of an extension
  const uint64_t end = in.Number(file.address_bytes);
  STOKER_RETURN_IF_ERROR(in.Check(*found, kSuperblock));
  STOKER_RETURN_IF_ERROR(CheckEnd(file, end));
  if (version < 2) {
    in.Number(file.address_bytes);  // of the driver's information
    in.Number(file.address_bytes);  // the root's entry: its name
  }
  const uint64_t root = in.Address();
  if (root == kNoAddress) in.Fail();
  STOKER_RETURN_IF_ERROR(in.Check(*found, kSuperblock));
  if (version >= 2)
    STOKER_RETURN_IF_ERROR(internal::CheckMetadata(file, *found, in.at(), kSuperblock));
  return root;
}

// The part before the first slash, and the rest after it.
std::pair<std::string_view, std::string_view> SplitPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const size_t slash = path.find('/');
  if (slash == path.npos) return {path, {}};
  std::string_view rest = path.substr(slash);
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return {path.substr(0, slash), rest};
}

using Links = std::map<std::string, Hdf5Link, std::less<>>;

Status NoSuchLink(const Hdf5Content& file, std::string_view path, std::string_view name,
                  const Links& links) {
  constexpr size_t kMostNamed = 20;
  std::vector<std::string_view> names;
  for (auto link = links.begin(); link != links.end() && names.size() < kMostNamed; ++link)
    names.push_back(link->first);
  return NotFound("{}: '{}': there is no '{}' among: {}{}", file.name, path, name,
                  fmt::join(names, ", "), links.size() > kMostNamed ? ", ..." : "");
}

}  // namespace

// The names in the groups that were looked into last, so that to open each dataset of a large group
// does not take reading the group each time. Thread-safe.
class internal::Hdf5Groups {
 public:
  // The links of the object at this address; null if it is no group.
  Result<std::shared_ptr<const Links>> Find(const Hdf5Content& file, uint64_t address) {
    {
      const MutexLock lock(mutex_);
      for (const auto& [at, links] : groups_) {
        if (at == address) return links;
      }
    }
    STOKER_ASSIGN_OR_RETURN(const Hdf5Object object, ReadHdf5Object(file, address));
    if (!IsHdf5Group(object)) return nullptr;
    STOKER_ASSIGN_OR_RETURN(const std::vector<Hdf5Link> read, ReadHdf5Links(file, object));
    auto links = std::make_shared<Links>();
    for (const Hdf5Link& link : read) links->emplace(link.name, link);
    const MutexLock lock(mutex_);
    if (groups_.size() == kMostGroups) groups_.pop_front();
    groups_.emplace_back(address, links);
    return links;
  }

 private:
  static constexpr size_t kMostGroups = 8;  // as deep as paths mostly are
  Mutex mutex_;
  std::deque<std::pair<uint64_t, std::shared_ptr<const Links>>> groups_ STOKER_GUARDED_BY(mutex_);
};

namespace {

class PathResolver {
 public:
  PathResolver(const Hdf5Content& file, internal::Hdf5Groups& groups, uint64_t root,
               std::string_view path)
      : file_(file), groups_(groups), root_(root), path_(path) {}

  Result<Hdf5Object> Resolve() {
    uint64_t address = root_;
    std::string rest(path_), groups;
    while (true) {
      const auto [name_here, behind] = SplitPath(rest);
      if (name_here.empty()) return internal::ReadHdf5Object(file_, address);
      const std::string name(name_here);
      std::string next(behind);
      STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Links> links,
                              groups_.Find(file_, address));
      if (links == nullptr) {
        return NotFound("{}: '{}': '{}' is a dataset, in which there is no '{}'", file_.name, path_,
                        groups, name);
      }
      const auto link = links->find(name);
      if (link == links->end()) return NoSuchLink(file_, path_, name, *links);
      address = link->second.address;
      if (address == kNoAddress) {
        STOKER_RETURN_IF_ERROR(Follow(link->second, groups, next));
        address = root_;
        groups.clear();
      } else {
        groups += "/" + name;
      }
      rest = std::move(next);
    }
  }

 private:
  // `rest` becomes a path from the root on.
  Status Follow(const Hdf5Link& link, const std::string& groups, std::string& rest) {
    constexpr int kMostLinks = 16;
    if (link.external) {
      return Unimplemented("{}: '{}': '{}' is a link into another file; name that file instead",
                           file_.name, path_, link.name);
    }
    if (++followed_ > kMostLinks)
      return file_.Damaged(0, fmt::format("'{}' leads from link to link without end", path_));
    rest = (link.target.starts_with('/') ? "" : groups + "/") + link.target + "/" + rest;
    return OkStatus();
  }

  const Hdf5Content& file_;
  internal::Hdf5Groups& groups_;
  const uint64_t root_;
  const std::string path_;
  int followed_ = 0;
};

// Puts the paths of the datasets below a group into `paths`.
class Lister {
 public:
  explicit Lister(const Hdf5Content& file) : file_(file) {}

  Status List(uint64_t at, const std::string& path, int depth) {
    // A group that is there under two names is listed under the first.
    constexpr int kDeepest = 64;
    if (depth > kDeepest || !seen_.insert(at).second) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const Hdf5Object object, internal::ReadHdf5Object(file_, at));
    if (!internal::IsHdf5Group(object)) {
      if (object.Find(internal::Hdf5MessageType::kLayout) != nullptr) paths.push_back(path);
      return OkStatus();
    }
    STOKER_ASSIGN_OR_RETURN(const std::vector<Hdf5Link> links,
                            internal::ReadHdf5Links(file_, object));
    for (const Hdf5Link& link : links) {
      if (link.address != kNoAddress)
        STOKER_RETURN_IF_ERROR(List(link.address, path + "/" + link.name, depth + 1));
    }
    return OkStatus();
  }

  std::vector<std::string> paths;

 private:
  const Hdf5Content& file_;
  std::set<uint64_t> seen_;
};

}  // namespace

Result<Hdf5File> Hdf5File::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(FileBytes file, FileBytes::Open(path));
  return Parse(std::move(file));
}

Result<Hdf5File> Hdf5File::Parse(Buffer bytes, std::string name) {
  return Parse(FileBytes::Of(std::move(bytes), std::move(name)));
}

Result<Hdf5File> Hdf5File::Parse(FileBytes file) {
  auto content = std::make_shared<Hdf5Content>(std::move(file));
  STOKER_ASSIGN_OR_RETURN(const uint64_t root, ReadSuperblock(*content));
  return Hdf5File(std::move(content), root);
}

Hdf5File::Hdf5File(std::shared_ptr<const Hdf5Content> content, uint64_t root)
    : content_(std::move(content)),
      groups_(std::make_shared<internal::Hdf5Groups>()),
      root_(root) {}

const std::string& Hdf5File::name() const { return content_->name; }

Result<std::vector<std::string>> Hdf5File::ListDatasets() const {
  Lister lister(*content_);
  STOKER_RETURN_IF_ERROR(lister.List(root_, "", 0));
  return std::move(lister.paths);
}

Result<std::shared_ptr<const ChunkedArray>> Hdf5File::OpenDataset(std::string_view path) const {
  STOKER_ASSIGN_OR_RETURN(const Hdf5Object object,
                          PathResolver(*content_, *groups_, root_, path).Resolve());
  if (internal::IsHdf5Group(object)) {
    return InvalidArgument("{}: '{}' is a group; name a dataset in it", content_->name, path);
  }
  return internal::OpenHdf5Dataset(content_, object, fmt::format("{}: {}", content_->name, path));
}

}  // namespace stoker
