// Hadoop's file system over HTTP, webhdfs:// and swebhdfs:// (HTTPS). A file has neither tag nor
// conditions there, so its state is asked for before it is read and again after each part.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/remote_path.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/remote_sinks_internal.h"
#include "stoker/io/remote/remote_stores_internal.h"
#include "stoker/io/remote/text_answer_internal.h"
#include "stoker/io/remote/webhdfs_json.h"
#include "stoker/io/remote/webhdfs_list_internal.h"

namespace stoker {
namespace {

constexpr size_t kMostStatusBytes = 1 << 20;
constexpr size_t kPieceBytes = 4 << 20;
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
  constexpr std::string_view kReading = "reading WEBHDFS_DELEGATION_TOKEN_FILE";
  Result<std::string> text = ReadTextFile(path, kMostStatusBytes);
  if (!text.ok()) return text.status().While(kReading);
  identity.token = *std::move(text);
  const size_t end = identity.token.find_last_not_of(" \t\r\n");
  identity.token.resize(end == std::string::npos ? 0 : end + 1);
  if (!identity.token.empty()) return identity;
  return InvalidArgument("{}: has no token; write the urlString of GETDELEGATIONTOKEN", path)
      .While(kReading);
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
  if (const std::string shown = WithoutSecrets(path); shown != path) {
    return InvalidArgument(
        "{}: has parameters after the ?; leave them out, and set WEBHDFS_DELEGATION_TOKEN or "
        "HADOOP_USER_NAME",
        shown);
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

bool IsSecure(const RemoteLocation& location) { return location.root.starts_with(kSecure); }

// "HOST:PORT", with the port of Hadoop 3 where none is named.
std::string NameNodeOf(const RemoteLocation& location) {
  const std::string& host = location.bucket;
  const bool has_port = host.rfind(':') != std::string::npos && !host.ends_with(']');
  if (has_port) return host;
  return host + (IsSecure(location) ? ":9871" : ":9870");
}

// The bytes of OPEN. A data node that brought nothing is left out of the next try, since the name
// node may send to another one, until the name node itself fails: no other may be left.
class OpenSink final : public RemoteSink {
 public:
  OpenSink(const RemoteLocation& location, uint64_t offset, std::span<std::byte> out)
      : location_(location), name_node_(NameNodeOf(location)), offset_(offset), out_(out) {}

  uint64_t received() const override { return done_; }
  bool complete() const override { return done_ == out_.size(); }
  Status refusal() const override { return refusal_; }

  RemoteRequest Next() override {
    const uint64_t first = offset_ + done_, last = offset_ + out_.size() - 1;
    asked_from_ = done_;
    std::string query = fmt::format("op=OPEN&offset={}&length={}", first, last - first + 1);
    if (!excluded_.empty()) {
      query += fmt::format("&excludedatanodes={}",
                           PercentEncode(fmt::format("{}", fmt::join(excluded_, ",")), false));
    }
    return {.query = std::move(query), .range = {{first, last}}};
  }
  void Failed(const HttpAnswer& answer) override {
    if (answer.server == name_node_) return excluded_.clear();
    // A port would be that of another protocol, and an address in brackets is not understood.
    std::string host = answer.server.substr(0, answer.server.rfind(':'));
    if (done_ == asked_from_ && !host.empty() && !host.starts_with('['))
      excluded_.insert(std::move(host));
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
  const std::string name_node_;
  const uint64_t offset_;
  const std::span<std::byte> out_;
  size_t done_ = 0, asked_from_ = 0;
  std::set<std::string> excluded_;  // hosts of data nodes
  Status refusal_;
};

RemoteVersion VersionOf(const WebHdfsStatus& status) {
  return {.size = status.size, .etag = status.tag};
}

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
    StoreRequest request{
        .http = {
            .url = fmt::format("{}://{}/webhdfs/v1/{}?{}", IsSecure(location) ? "https" : "http",
                               NameNodeOf(location),
                               PercentEncode(location.key, /*keep_slashes=*/true), asked.query),
            // To the node that has the data. What shows it who asks stands in the address that
            // the name node gives, where it is to know that.
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
  // A name node that is on standby takes over, or another one at the same address does. Hadoop
  // answers 403 for trouble of its own too, an IOException; that of an offset beyond the end stays.
  bool IsPassing(const StoreError& error) const override {
    constexpr std::string_view kBeyondEnd = "out of the range";
    if (error.code == "IOException") return error.message.find(kBeyondEnd) == std::string::npos;
    return error.code == "StandbyException" || error.code == "RetriableException" ||
           error.code == "SafeModeException" || error.code == "BlockMissingException";
  }
  bool IsRefusal(const HttpAnswer& answer, const StoreError& error) const override {
    constexpr std::string_view kRefusals[] = {"", "AccessControlException",
                                              "AuthorizationException", "SecurityException",
                                              "InvalidToken"};
    constexpr int kUnauthorized = 401, kForbidden = 403;
    return answer.head.status == kUnauthorized ||
           (answer.head.status == kForbidden &&
            std::ranges::find(kRefusals, error.code) != std::end(kRefusals));
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
    if (status.kind == WebHdfsStatus::Kind::kLink) {
      return InvalidArgument("{}: is a link, which is not followed; name the file it leads to",
                             access.location.name);
    }
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

  std::unique_ptr<RemoteList> List(const RemoteAccess& access,
                                   RemoteListRequest request) const override {
    return internal::ListWebHdfs(*this, access, std::move(request));
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
