#include "stoker/data/sources/folder_scan_internal.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "stoker/base/remote_path.h"
#include "stoker/io/remote/remote_names.h"

namespace stoker {
namespace {

constexpr int kMaxDepth = 32;  // of folders in a class: more are a link that leads back

std::string_view AdviceFor(int error_number) {
  switch (error_number) {
    case ENOTDIR: return "name the folder that holds a folder for each class";
    case EACCES: return "check the permissions of the folder and those above it";
    default: return "check the path";
  }
}

Status ListingError(int error_number, const std::string& path) {
  const Status status = ErrnoStatus(error_number, path + ": cannot list the folder");
  return {status.code(), fmt::format("{}; {}", status.message(), AdviceFor(error_number))};
}

struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> files;
};

// The kind of what a link leads to, or of what the file system does not tell the kind of. What
// cannot be looked at counts as a file: reading it says why.
bool IsFolder(DIR* directory, const dirent& entry) {
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat found;
  return ::fstatat(::dirfd(directory), entry.d_name, &found, 0) == 0 && S_ISDIR(found.st_mode);
}

Result<Listing> ListFolder(const std::string& path) {
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(path.c_str()), close);
  if (!directory) return ListingError(errno, path);
  Listing listing;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    (IsFolder(directory.get(), *entry) ? listing.folders : listing.files)
        .emplace_back(entry->d_name);
  }
  if (errno != 0) return ListingError(errno, path);
  std::ranges::sort(listing.folders);
  std::ranges::sort(listing.files);
  return listing;
}

using Lister = std::function<Result<Listing>(const std::string& path)>;

// Lists the folders of a bucket, which it asks for once: a store knows no folders, only names with
// slashes in them.
Result<Lister> ListerOfStore(const std::string& root) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListRemoteFolder(root));
  auto tree = std::make_shared<std::map<std::string, Listing>>();
  for (const std::string& name : names) {  // sorted, so what lies in one folder is together
    std::string path = root;
    size_t begin = 0;
    for (size_t slash; (slash = name.find('/', begin)) != name.npos; begin = slash + 1) {
      const std::string folder = name.substr(begin, slash - begin);
      if (folder.empty() || folder.starts_with('.')) break;
      std::vector<std::string>& beside = (*tree)[path].folders;
      if (beside.empty() || beside.back() != folder) beside.push_back(folder);
      path += "/" + folder;
    }
    const std::string file = name.substr(begin);
    if (!file.empty() && !file.starts_with('.') && file.find('/') == file.npos)
      (*tree)[path].files.push_back(file);
  }
  return [tree](const std::string& path) -> Result<Listing> {
    Listing listing = (*tree)[path];
    std::ranges::sort(listing.folders);  // "a-b/" stands before "a/"
    return listing;
  };
}

bool HasExtension(std::string_view name, const std::vector<std::string>& extensions) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos) return false;
  const std::string_view extension = name.substr(dot + 1);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::any_of(extensions, [&](const std::string& wanted) {
    return std::ranges::equal(extension, wanted, {}, lower);
  });
}

class Scanner {
 public:
  Scanner(Lister list, const std::vector<std::string>& extensions, bool allow_empty)
      : list_(std::move(list)), extensions_(extensions), allow_empty_(allow_empty) {}

  Result<FolderScan> Scan(const std::string& root) && {
    STOKER_ASSIGN_OR_RETURN(Listing listing, list_(root));
    if (listing.folders.empty()) return NoClasses(root, listing.files);
    for (const std::string& name : listing.folders) {
      STOKER_RETURN_IF_ERROR(AddClass(root + "/" + name));
      scan_.classes.push_back(name);
    }
    if (scan_.names.size() == 0) return NoFiles(root, "no class has a");
    scan_.names.ShrinkToFit();
    return std::move(scan_);
  }

 private:
  struct Found {
    std::string path;
    std::vector<std::string> files;
  };

  Status AddClass(const std::string& path) {
    const int64_t before = scan_.names.size();
    std::vector<Found> found;
    STOKER_RETURN_IF_ERROR(Walk(path, 0, found));
    // By whole paths, as ImageFolder of torchvision sorts them.
    std::ranges::sort(found, {}, &Found::path);
    for (const Found& directory : found) {
      scan_.directories.push_back({.path = directory.path,
                                   .label = std::ssize(scan_.classes),
                                   .begin = scan_.names.size()});
      for (const std::string& name : directory.files) scan_.names.Add(name);
    }
    if (scan_.names.size() > before || allow_empty_) return OkStatus();
    return NoFiles(path, "the class has no");
  }

  Status Walk(const std::string& path, int depth, std::vector<Found>& found) {
    if (depth > kMaxDepth) {
      return InvalidArgument("{}: folders are nested more than {} deep; does a link lead back?",
                             path, kMaxDepth);
    }
    STOKER_ASSIGN_OR_RETURN(Listing listing, list_(path));
    scan_.left_out += std::erase_if(
        listing.files, [&](const std::string& name) { return !HasExtension(name, extensions_); });
    if (!listing.files.empty()) found.push_back({path, std::move(listing.files)});
    for (const std::string& name : listing.folders)
      STOKER_RETURN_IF_ERROR(Walk(path + "/" + name, depth + 1, found));
    return OkStatus();
  }

  Status NoClasses(const std::string& root, const std::vector<std::string>& files) const {
    const auto pictures = std::ranges::count_if(
        files, [&](const std::string& name) { return HasExtension(name, extensions_); });
    return NotFound(
        "{}: has no sub-folders, of which each would be a class{}; name the folder above, or read "
        "pictures without labels with `files: {{path: '{}/*', read: true}}` and `decode: {{field: "
        "bytes}}`",
        root, pictures > 0 ? fmt::format(", though {} pictures lie in it", pictures) : "", root);
  }

  Status NoFiles(const std::string& path, std::string_view what) const {
    return NotFound(
        "{}: {} file called *.{}{}; {}", path, what, fmt::join(extensions_, ", *."),
        scan_.left_out > 0 ? fmt::format(" ({} others were left out)", scan_.left_out) : "",
        "remove the folder, or set folder.extensions or folder.allow_empty");
  }

  const Lister list_;
  const std::vector<std::string>& extensions_;
  const bool allow_empty_;
  FolderScan scan_;
};

}  // namespace

const FolderScan::Directory& FolderScan::DirectoryOf(int64_t file) const {
  const auto next = std::ranges::upper_bound(directories, file, {}, &Directory::begin);
  return *std::prev(next);
}

Result<FolderScan> ScanFolder(const std::string& root, const std::vector<std::string>& extensions,
                              bool allow_empty) {
  Lister list = ListFolder;
  if (IsRemotePath(root)) {
    STOKER_ASSIGN_OR_RETURN(list, ListerOfStore(root));
  }
  return Scanner(std::move(list), extensions, allow_empty).Scan(root);
}

}  // namespace stoker
