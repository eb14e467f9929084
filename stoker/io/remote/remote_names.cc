#include "stoker/io/remote/remote_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/glob.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/request_pool.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker {
namespace {

constexpr size_t kMostListBytes = 8 << 20;  // of a page; S3's have 1,000 names
// Pages without a name in a row. Stores may answer so while they pass over what was removed.
constexpr int kMostEmptyPages = 1000;
// The fewest names that pages may have on average once a list is longer than kMostEmptyPages. Those
// of S3 have 1,000.
constexpr int64_t kLeastNamesOfAPage = 10;

// One page of a list.
class ListSink final : public RemoteSink {
 public:
  // `path` is for messages; it must outlive this.
  ListSink(const std::string& path, std::string query) : path_(path), query_(std::move(query)) {}
  const std::string& text() const { return text_; }
  Status refusal() const override { return refusal_; }

  RemoteRequest Next() override {
    text_.clear();
    return {.query = query_};
  }
  uint64_t received() const override { return 0; }  // a page that breaks off begins anew
  bool Begin(const HttpHead&) override { return true; }
  bool Take(std::span<const std::byte> bytes) override {
    if (bytes.size() > kMostListBytes - text_.size()) {
      refusal_ = Unavailable(
          "{}: a page of the store's list of objects is longer than {} MiB, as none of S3 is; "
          "check the endpoint",
          path_, kMostListBytes >> 20);
      return false;
    }
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }

 private:
  const std::string& path_;
  const std::string query_;
  std::string text_;
  Status refusal_;
};

// Parameters in the order of their names, as signatures have them.
std::string QueryFor(const std::string& prefix, bool one_level, const std::string& continuation) {
  std::string query;
  if (!continuation.empty())
    query += fmt::format("continuation-token={}&", PercentEncode(continuation, false));
  if (one_level) query += "delimiter=%2F&";
  query += fmt::format("encoding-type=url&list-type=2&prefix={}", PercentEncode(prefix, false));
  return query;
}

// A key with a control character cannot be asked for.
Status CheckKey(const std::string& path, const std::string& bucket, const std::string& key) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::none_of(key, control)) return OkStatus();
  return DataLoss(
      "{}: the bucket {} has an object whose key has a control character in it: '{}'; rename it, "
      "or name the files without it",
      path, bucket, Printable(key));
}

// How far a list has been read.
struct ListLength {
  int64_t pages = 0, empty_in_a_row = 0, names = 0;

  // Counts a page. Error: the list is too long, or has too few names for its pages.
  Status Add(const std::string& path, const S3List& page, int64_t most_names) {
    ++pages;
    const int64_t of_page = std::ssize(page.objects) + page.folders;
    names += of_page;
    empty_in_a_row = of_page == 0 ? empty_in_a_row + 1 : 0;
    if (empty_in_a_row > kMostEmptyPages) {
      return Unavailable(
          "{}: the store's list of objects has {} pages without a name in a row, and says that "
          "there are more; name the files, or check the endpoint",
          path, kMostEmptyPages);
    }
    if (names > most_names) {
      return ResourceExhausted(
          "{}: the store's list of objects has more than {} names; name a folder or pattern with "
          "fewer, or pack the files into shards (`stoker pack`)",
          path, most_names);
    }
    // A list without end may also have pages that hold a name or two.
    if (pages > kMostEmptyPages + names / kLeastNamesOfAPage && !page.continuation.empty()) {
      return Unavailable(
          "{}: the store's list of objects has only {} names in {} pages, and says that there are "
          "more; name the files, or check the endpoint",
          path, names, pages);
    }
    return OkStatus();
  }
};

// Hands each object of the bucket of `location` whose key begins with `prefix` to `take`; with
// `one_level`, none that has a slash behind it. `take` says whether it keeps the object. `path` is
// for messages.
Status ForEachObject(const std::string& path, RemoteLocation location, const std::string& prefix,
                     bool one_level, int64_t most_names,
                     const std::function<bool(const S3Object&)>& take) {
  location.key.clear();
  const std::shared_ptr<const RemoteOptions> options = CurrentRemoteOptions();
  std::string continuation, first_key;
  ListLength length;
  std::set<std::string> asked;  // continuations: one that comes again would go round for ever
  do {
    ListSink sink(path, QueryFor(prefix, one_level, continuation));
    STOKER_RETURN_IF_ERROR(AskServer(location, sink, *options, nullptr).status());
    Result<S3List> page = ParseS3List(sink.text());
    if (!page.ok())
      return Status(page.status().code(), fmt::format("{}: {}", path, page.status().message()));
    const bool same_page = !page->objects.empty() && page->objects.front().key == first_key;
    if (same_page || !asked.insert(page->continuation).second) {
      return Unavailable(
          "{}: the store's list of objects goes round in circles: it gives {} again; name the "
          "files, or check the endpoint",
          path, same_page ? fmt::format("'{}'", first_key) : "a continuation");
    }
    STOKER_RETURN_IF_ERROR(length.Add(path, *page, most_names));
    if (!page->objects.empty()) first_key = page->objects.front().key;
    for (const S3Object& object : page->objects) {
      if (!take(object)) continue;
      STOKER_RETURN_IF_ERROR(CheckKey(path, location.bucket, object.key));
    }
    continuation = std::move(page->continuation);
  } while (!continuation.empty());
  return OkStatus();
}

// Looks files up, several at once.
class Search {
 public:
  explicit Search(std::vector<std::string> paths)
      : paths_(std::move(paths)), left_(paths_.size()), first_bad_(paths_.size()) {}

  // On a thread of the pool, once for each file.
  void Find(size_t i) {
    Status found;
    if (IsWanted(i)) found = RemoteFile::Find(paths_[i], &cancel_).status();
    const std::lock_guard lock(mutex_);
    if (!found.ok() && i < first_bad_) {
      first_bad_ = i;
      error_ = std::move(found);
    }
    if (--left_ == 0) changed_.notify_all();
  }

  // The error of the first file that has one.
  Status Wait() {
    std::unique_lock lock(mutex_);
    if (WaitUnlessStopped(changed_, lock, [this] { return left_ == 0; })) return error_;
    cancel_.Cancel();
    return Cancelled("{}: asked to stop while files were looked up",
                     NameForMessages(paths_.front()));
  }

 private:
  // What follows an error need not be asked for.
  bool IsWanted(size_t i) {
    const std::lock_guard lock(mutex_);
    return i < first_bad_ && !cancel_.cancelled();
  }

  const std::vector<std::string> paths_;
  Cancellation cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_, first_bad_;
  Status error_;
};

}  // namespace

bool IsRemoteGlob(const std::string& path) { return path.starts_with("s3://") && IsGlob(path); }

Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern, int64_t most_names) {
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(pattern));
  const std::string& keys = location.key;
  const size_t wild = keys.find_first_of("*?[");
  const std::string prefix = UnescapeGlob(keys.substr(0, wild));
  const bool one_level = keys.find('/', wild) == keys.npos;
  std::vector<std::string> paths;
  const auto take = [&](const S3Object& object) {
    if (::fnmatch(keys.c_str(), object.key.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) return false;
    if (object.key.ends_with('/')) return false;
    paths.push_back(fmt::format("s3://{}/{}", location.bucket, object.key));
    RemoteFile::Know(paths.back(), {.size = object.size, .etag = object.etag});
    return true;
  };
  STOKER_RETURN_IF_ERROR(ForEachObject(pattern, location, prefix, one_level, most_names, take));
  if (paths.empty()) {
    return NotFound("{}: no object matches, though the bucket is there; check the pattern",
                    pattern);
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder, int64_t most_names) {
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(folder));
  if (location.kind != RemoteLocation::Kind::kS3) {
    return Unimplemented(
        "{}: what is in a folder cannot be asked for over HTTP; name the files, read the folder "
        "from S3, or copy it here",
        location.name);
  }
  std::string prefix = location.key;
  while (prefix.ends_with('/')) prefix.pop_back();
  if (!prefix.empty()) prefix += '/';
  std::vector<std::string> names;
  const auto take = [&](const S3Object& object) {
    if (!object.key.starts_with(prefix) || object.key.size() == prefix.size()) return false;
    names.push_back(object.key.substr(prefix.size()));
    RemoteFile::Know(fmt::format("s3://{}/{}", location.bucket, object.key),
                     {.size = object.size, .etag = object.etag});
    return true;
  };
  STOKER_RETURN_IF_ERROR(
      ForEachObject(folder, location, prefix, /*one_level=*/false, most_names, take));
  if (names.empty()) {
    return NotFound("{}: no object is below it, though the bucket is there; check the name",
                    folder);
  }
  std::ranges::sort(names);
  return names;
}

Status CheckRemoteFiles(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return RemoteFile::Open(paths.front()).status();  // its start is kept
  // Shared, since those that are asked to stop do not wait for those that ask.
  const auto search = std::make_shared<Search>(paths);
  for (size_t i = 0; i < paths.size(); ++i) {
    const Status asked = RequestPool::Shared().Run([search, i] { search->Find(i); },
                                                   CurrentRemoteOptions()->connections);
    if (!asked.ok()) {
      return Status(asked.code(),
                    fmt::format("{}: {}", NameForMessages(paths[i]), asked.message()));
    }
  }
  return search->Wait();
}

}  // namespace stoker
