// Hadoop's file system over HTTP, webhdfs:// and swebhdfs:// (HTTPS). A file has neither tag nor
// conditions there, so its state is asked for before it is read and again after each part.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/io/file.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/remote_sinks_internal.h"
#include "stoker/io/remote/remote_stores_internal.h"
#include "stoker/io/remote/text_answer_internal.h"
#include "stoker/io/remote/webhdfs_json.h"

namespace stoker {
namespace {

constexpr size_t kMostStatusBytes = 1 << 20;
constexpr size_t kMostFolderBytes = 64 << 20;  // of LISTSTATUS, which has no pages
constexpr size_t kPieceBytes = 4 << 20;
constexpr int kDeepest = 100;  // folders in folders
constexpr std::string_view kSecure = "swebhdfs://";

using internal::Variable;

// A token, or else a user's name; both may be empty.
struct Identity {
  std::string token, user;
};

// Read for each request, so that a token which was renewed is taken at once.
Result<Identity> FindIdentity() {
  Identity identity{.token = Variable("WEBHDFS_DELEGATION_TOKEN"),
                    .user = Variable("HADOOP_USER_NAME")};
  const std::string path = Variable("WEBHDFS_DELEGATION_TOKEN_FILE");
  if (!identity.token.empty() || path.empty()) return identity;
  STOKER_ASSIGN_OR_RETURN(identity.token, ReadTextFile(path, kMostStatusBytes));
  const size_t end = identity.token.find_last_not_of(" \t\r\n");
  identity.token.resize(end == std::string::npos ? 0 : end + 1);
  if (identity.token.empty())
    return InvalidArgument("{}: has no token; write the urlString of GETDELEGATIONTOKEN", path);
  return identity;
}

Result<RemoteLocation> ParsePath(const RemoteStore& store, const std::string& path) {
  const size_t begin = path.find("://") + 3;
  const size_t slash = std::min(path.find('/', begin), path.size());
  const std::string host = path.substr(begin, slash - begin);
  const std::string scheme = path.substr(0, begin);
  if (const size_t at = host.rfind('@'); at != host.npos) {
    return InvalidArgument(
        "{}...{}: has a user before the @; leave it out, and set HADOOP_USER_NAME", scheme,
        path.substr(begin + at));
  }
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  };
  if (host.empty() || !std::ranges::all_of(host, allowed)) {
    return InvalidArgument("{}: '{}' is no host; write {}HOST:PORT/PATH", path, host, scheme);
  }
  return RemoteLocation{.store = &store,
                        .name = path,
                        .url = {},
                        .bucket = host,
                        .key = slash < path.size() ? path.substr(slash + 1) : "",
                        .root = scheme + host + "/"};
}

// The bytes of OPEN.
class OpenSink final : public RemoteSink {
 public:
  OpenSink(const RemoteLocation& location, uint64_t offset, std::span<std::byte> out)
      : location_(location), offset_(offset), out_(out) {}

  uint64_t received() const override { return done_; }
  bool complete() const override { return done_ == out_.size(); }
  Status refusal() const override { return refusal_; }

  RemoteRequest Next() override {
    const uint64_t first = offset_ + done_, last = offset_ + out_.size() - 1;
    return {.query = fmt::format("op=OPEN&offset={}&length={}", first, last - first + 1),
            .range = {{first, last}}};
  }
  bool Begin(const HttpHead& head) override {
    return head.content_length.value_or(0) <= out_.size() - done_ || Refuse();
  }
  bool Take(std::span<const std::byte> bytes) override {
    if (bytes.size() > out_.size() - done_) return Refuse();
    std::memcpy(out_.data() + done_, bytes.data(), bytes.size());
    done_ += bytes.size();
    return true;
  }

 private:
  // More bytes than those asked for may be any: nothing says where they begin.
  bool Refuse() {
    refusal_ = Unavailable(
        "{}: byte {}: the server sends more than the {} bytes that were asked for, so it does not "
        "heed offset and length; fetch the file by other means",
        location_.name, offset_ + done_, out_.size() - done_);
    return false;
  }

  const RemoteLocation& location_;
  const uint64_t offset_;
  const std::span<std::byte> out_;
  size_t done_ = 0;
  Status refusal_;
};

RemoteVersion VersionOf(const WebHdfsStatus& status) {
  return {.size = status.size, .etag = status.tag};
}

// Folder after folder.
class FolderList final : public RemoteList {
 public:
  FolderList(const HttpDialect& dialect, const RemoteAccess& access, std::string prefix,
             std::optional<int> slashes)
      : dialect_(dialect),
        location_(access.location),
        access_{location_, access.options, access.cancel},
        prefix_(std::move(prefix)),
        deepest_(slashes.value_or(kDeepest)),
        all_(!slashes) {
    // The folder that the names of the prefix lie in, and what they begin with there.
    folders_.push_back({prefix_.substr(0, prefix_.rfind('/') + 1), 0});
  }

  Result<std::optional<RemotePage>> Next() override {
    if (folders_.empty()) return std::nullopt;
    const Folder folder = folders_.back();
    STOKER_ASSIGN_OR_RETURN(const WebHdfsPage page, Ask(folder.key));
    RemotePage out;
    std::vector<Folder> below;
    for (const WebHdfsStatus& entry : page.entries) {
      const std::string key = folder.key + entry.name;
      if (entry.name.empty() || !key.starts_with(prefix_)) continue;  // empty: it is no folder
      if (entry.kind == WebHdfsStatus::Kind::kFile)
        out.objects.push_back({.key = key, .size = entry.size, .etag = entry.tag});
      if (entry.kind != WebHdfsStatus::Kind::kFolder) continue;
      if (all_ && folder.depth >= kDeepest) {
        return InvalidArgument("{}: folders are nested more than {} deep below '{}'",
                               access_.location.name, kDeepest, prefix_);
      }
      if (all_) {
        out.objects.push_back({.key = key + "/"});
      } else {
        ++out.folders;
      }
      if (folder.depth < deepest_) below.push_back({key + "/", folder.depth + 1});
    }
    if (page.more) {
      STOKER_RETURN_IF_ERROR(GoOn(page));
      folders_.insert(folders_.begin(), below.begin(), below.end());  // this one first
    } else {
      folders_.pop_back();
      after_.clear();
      seen_.clear();
      folders_.insert(folders_.end(), below.begin(), below.end());
    }
    return std::optional(std::move(out));
  }

 private:
  struct Folder {
    std::string key;  // empty, or with a slash at its end
    int depth;        // slashes of its names that follow the prefix
  };

  // A page of the folder; all of it, of a server that has no pages.
  Result<WebHdfsPage> Ask(const std::string& folder) {
    location_.key = folder.substr(0, folder.empty() ? 0 : folder.size() - 1);
    std::string query = "op=LISTSTATUS";
    if (batches_) query += "_BATCH";
    if (!after_.empty()) query += fmt::format("&startAfter={}", PercentEncode(after_, false));
    const Result<std::string> text = internal::AskForText(
        dialect_, access_, query, batches_ ? internal::kMostListBytes : kMostFolderBytes,
        "the list of a folder");
    // Before Hadoop 3 there is LISTSTATUS alone.
    const bool unknown = !text.ok() && text.status().code() == StatusCode::kFailedPrecondition;
    if (unknown && batches_ && !answered_) {
      batches_ = false;
      return Ask(folder);
    }
    if (!text.ok()) return text.status();
    answered_ = true;
    Result<WebHdfsPage> page = ParseWebHdfsPage(*text);
    if (page.ok()) return page;
    return Status(page.status().code(),
                  fmt::format("{}: {}", location_.name, page.status().message()));
  }

  // To the page that follows `page` in its folder.
  Status GoOn(const WebHdfsPage& page) {
    after_ = page.entries.empty() ? "" : page.entries.back().name;
    if (!after_.empty() && seen_.insert(after_).second) return OkStatus();
    return Unavailable(
        "{}: the server's list of a folder goes round in circles: it gives {} again; name the "
        "files, or check the address",
        location_.name, after_.empty() ? "a page without names" : fmt::format("'{}'", after_));
  }

  const HttpDialect& dialect_;
  RemoteLocation location_;
  const RemoteAccess access_;
  const std::string prefix_;
  const int deepest_;
  const bool all_;               // also those in folders, however deep
  std::vector<Folder> folders_;  // to be listed; the last one next
  std::string after_;            // the last name of the page before
  std::set<std::string> seen_;   // those of this folder
  bool batches_ = true, answered_ = false;
};

class WebHdfs final : public RemoteStore, public HttpDialect {
  Result<RemoteLocation> Locate(const std::string& path) const override {
    return ParsePath(*this, path);
  }
  bool lists() const override { return true; }
  std::string_view container() const override { return "file system"; }

  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest& asked) const override {
    STOKER_ASSIGN_OR_RETURN(const Identity identity, FindIdentity());
    const RemoteLocation& location = access.location;
    const bool secure = location.root.starts_with(kSecure);
    // Where no port is named, those of Hadoop 3.
    const bool has_port =
        location.bucket.rfind(':') != std::string::npos && !location.bucket.ends_with(']');
    StoreRequest request{
        .http = {.url = fmt::format(
                     "{}://{}{}/webhdfs/v1/{}?{}", secure ? "https" : "http", location.bucket,
                     has_port ? ""
                     : secure ? ":9871"
                              : ":9870",
                     PercentEncode(location.key, /*keep_slashes=*/true), asked.query),
                 // To the node that has the data. Its credentials, if it needs any, are in the
                 // address that the name node gives.
                 .follow_redirects = true,
                 .netrc = false,
                 .timeout = access.options.timeout}};
    if (!identity.token.empty()) {
      request.http.url += fmt::format("&delegation={}", PercentEncode(identity.token, false));
    } else if (!identity.user.empty()) {
      request.http.url += fmt::format("&user.name={}", PercentEncode(identity.user, false));
    }
    return request;
  }

  StoreError ReadError(const HttpAnswer& answer) const override {
    return ParseWebHdfsError(answer.text);
  }
  // A name node that is on standby takes over, or another one at the same address does.
  bool IsPassing(const StoreError& error) const override {
    return error.code == "StandbyException" || error.code == "RetriableException" ||
           error.code == "SafeModeException";
  }
  Status Refusal(const RemoteAccess&, const std::string& place, const std::string& text,
                 const StoreError&) const override {
    const Result<Identity> identity = FindIdentity();
    if (identity.ok() && !identity->token.empty()) {
      return PermissionDenied(
          "{}: {}: the delegation token may not read it, or has expired; check the rights, or "
          "fetch another token (WEBHDFS_DELEGATION_TOKEN, WEBHDFS_DELEGATION_TOKEN_FILE)",
          place, text);
    }
    if (identity.ok() && !identity->user.empty()) {
      return PermissionDenied("{}: {}: the user '{}' may not read it; set HADOOP_USER_NAME", place,
                              text, identity->user);
    }
    return PermissionDenied(
        "{}: {}: nobody may read it without a name; set HADOOP_USER_NAME, or, where the cluster "
        "asks for Kerberos, WEBHDFS_DELEGATION_TOKEN",
        place, text);
  }

  Result<Found> Find(const RemoteAccess& access, size_t) const override {
    STOKER_ASSIGN_OR_RETURN(const WebHdfsStatus status, StatusOf(access));
    if (status.kind == WebHdfsStatus::Kind::kFile) return Found{VersionOf(status), std::nullopt};
    return InvalidArgument("{}: is a folder, not a file; name the files in it",
                           access.location.name);
  }

  Status ReadRange(const RemoteAccess& access, const RemoteVersion& version, uint64_t offset,
                   std::span<std::byte> out, const Progress& progress) const override {
    OpenSink sink(access.location, offset, out);
    while (!sink.complete()) {
      const uint64_t before = sink.received();
      const Result<HttpAnswer> answer = AskServer(*this, access, sink);
      const bool failed = !answer.ok() || answer->head.status / 100 != 2;
      if (!failed && sink.received() > before) continue;
      if (!answer.ok() && (answer.status().code() == StatusCode::kCancelled ||
                           answer.status().code() == StatusCode::kUnavailable))
        return answer.status();
      // A file that is shorter by now, or gone, gives another error.
      STOKER_RETURN_IF_ERROR(CheckVersion(access, version));
      if (!answer.ok()) return answer.status();
      return Unavailable(
          "{}: byte {}: the server says that the file has {} bytes, but sends no more (HTTP {}); "
          "fetch it by other means",
          access.location.name, offset + before, version.size.value_or(0), answer->head.status);
    }
    STOKER_RETURN_IF_ERROR(CheckVersion(access, version));
    if (progress) progress(out.size());  // only now it is known of which version they are
    return OkStatus();
  }

  Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                   const TakeBytes& take) const override {
    const uint64_t size = version.size.value_or(0);
    std::vector<std::byte> piece;
    for (uint64_t at = 0; at < size; at += piece.size()) {
      piece.resize(static_cast<size_t>(std::min<uint64_t>(kPieceBytes, size - at)));
      STOKER_RETURN_IF_ERROR(ReadRange(access, version, at, piece, {}));
      STOKER_RETURN_IF_ERROR(take(piece));
    }
    return OkStatus();
  }

  std::unique_ptr<RemoteList> List(const RemoteAccess& access, std::string prefix,
                                   std::optional<int> slashes) const override {
    return std::make_unique<FolderList>(*this, access, std::move(prefix), slashes);
  }

  Result<WebHdfsStatus> StatusOf(const RemoteAccess& access) const {
    return internal::AskAndParse(*this, access, "op=GETFILESTATUS", kMostStatusBytes,
                                 "the state of a file", ParseWebHdfsStatus);
  }

  Status CheckVersion(const RemoteAccess& access, const RemoteVersion& version) const {
    STOKER_ASSIGN_OR_RETURN(const WebHdfsStatus now, StatusOf(access));
    return internal::CheckUnchanged(access.location.name, version, VersionOf(now));
  }
};

}  // namespace

const RemoteStore& internal::WebHdfsStore() {
  static const WebHdfs& store = *new WebHdfs;
  return store;
}

}  // namespace stoker
