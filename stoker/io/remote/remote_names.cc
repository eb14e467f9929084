#include "stoker/io/remote/remote_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "stoker/io/glob.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/request_pool.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker {
namespace {

constexpr size_t kMostListBytes = 64 << 20;  // of a page; S3's have 1,000 names

// One page of a list.
class ListSink final : public RemoteSink {
 public:
  explicit ListSink(std::string query) : query_(std::move(query)) {}
  const std::string& text() const { return text_; }

  RemoteRequest Next() override {
    text_.clear();
    return {.query = query_};
  }
  uint64_t received() const override { return 0; }  // a page that breaks off begins anew
  bool Begin(const HttpHead&) override { return true; }
  bool Take(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return text_.size() < kMostListBytes;
  }

 private:
  const std::string query_;
  std::string text_;
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

// Hands each object of the bucket of `location` whose key begins with `prefix` to `take`; with
// `one_level`, none that has a slash behind it. `path` is for messages.
Status ForEachObject(const std::string& path, RemoteLocation location, const std::string& prefix,
                     bool one_level, const std::function<void(const S3Object&)>& take) {
  location.key.clear();
  const std::shared_ptr<const RemoteOptions> options = CurrentRemoteOptions();
  std::string continuation;
  do {
    ListSink sink(QueryFor(prefix, one_level, continuation));
    STOKER_RETURN_IF_ERROR(AskServer(location, sink, *options, nullptr).status());
    Result<S3List> page = ParseS3List(sink.text());
    if (!page.ok())
      return Status(page.status().code(), fmt::format("{}: {}", path, page.status().message()));
    for (const S3Object& object : page->objects) take(object);
    continuation = std::move(page->continuation);
  } while (!continuation.empty());
  return OkStatus();
}

}  // namespace

bool IsRemoteGlob(const std::string& path) { return path.starts_with("s3://") && IsGlob(path); }

Result<std::vector<std::string>> ExpandRemoteGlob(const std::string& pattern) {
  STOKER_ASSIGN_OR_RETURN(const RemoteLocation location, ParseRemotePath(pattern));
  const std::string& keys = location.key;
  const size_t wild = keys.find_first_of("*?[");
  const std::string prefix = UnescapeGlob(keys.substr(0, wild));
  const bool one_level = keys.find('/', wild) == keys.npos;
  std::vector<std::string> paths;
  const auto take = [&](const S3Object& object) {
    if (::fnmatch(keys.c_str(), object.key.c_str(), FNM_PATHNAME | FNM_PERIOD) != 0) return;
    if (object.key.ends_with('/')) return;
    paths.push_back(fmt::format("s3://{}/{}", location.bucket, object.key));
    RemoteFile::Know(paths.back(), {.size = object.size, .etag = object.etag});
  };
  STOKER_RETURN_IF_ERROR(ForEachObject(pattern, location, prefix, one_level, take));
  if (paths.empty()) {
    return NotFound("{}: no object matches, though the bucket is there; check the pattern",
                    pattern);
  }
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> ListRemoteFolder(const std::string& folder) {
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
    if (!object.key.starts_with(prefix) || object.key.size() == prefix.size()) return;
    names.push_back(object.key.substr(prefix.size()));
    RemoteFile::Know(fmt::format("s3://{}/{}", location.bucket, object.key),
                     {.size = object.size, .etag = object.etag});
  };
  STOKER_RETURN_IF_ERROR(ForEachObject(folder, location, prefix, /*one_level=*/false, take));
  if (names.empty()) {
    return NotFound("{}: no object is below it, though the bucket is there; check the name",
                    folder);
  }
  std::ranges::sort(names);
  return names;
}

Status CheckRemoteFiles(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return RemoteFile::Open(paths.front()).status();  // its start is kept
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = paths.size(), first_bad = paths.size();
  Status error;
  for (size_t i = 0; i < paths.size(); ++i) {
    RequestPool::Shared().Run(
        [&, i] {
          {
            const std::lock_guard lock(mutex);
            if (i > first_bad) {  // what is behind an error need not be asked for
              if (--left == 0) changed.notify_all();
              return;
            }
          }
          const Status found = RemoteFile::Find(paths[i]).status();
          const std::lock_guard lock(mutex);
          if (!found.ok() && i < first_bad) {
            first_bad = i;
            error = found;
          }
          if (--left == 0) changed.notify_all();
        },
        CurrentRemoteOptions()->connections);
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return left == 0; });
  return error;
}

}  // namespace stoker
