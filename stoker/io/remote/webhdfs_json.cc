#include "stoker/io/remote/webhdfs_json.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/io/remote/json_members_internal.h"

namespace stoker {
namespace {

using internal::Member;
using internal::ParseAnswer;
using internal::TextOf;

std::optional<uint64_t> NumberOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<uint64_t>();
}

std::optional<WebHdfsStatus> ReadStatus(const Json& json) {
  const std::optional<uint64_t> size = NumberOf(json, "length");
  const std::optional<uint64_t> changed = NumberOf(json, "modificationTime");
  const std::string type = TextOf(json, "type");
  if (!size || !changed || type.empty() || !Member(json, "pathSuffix").is_string())
    return std::nullopt;
  WebHdfsStatus status{.name = TextOf(json, "pathSuffix"), .size = *size};
  if (type == "FILE") status.kind = WebHdfsStatus::Kind::kFile;
  if (type == "DIRECTORY") status.kind = WebHdfsStatus::Kind::kFolder;
  if (type == "SYMLINK") status.kind = WebHdfsStatus::Kind::kLink;
  const std::optional<uint64_t> number = NumberOf(json, "fileId");
  status.tag =
      number ? fmt::format("\"{}-{}\"", *number, *changed) : fmt::format("\"{}\"", *changed);
  return status;
}

}  // namespace

StoreError ParseWebHdfsError(std::string_view text) {
  constexpr size_t kLongestMessage = 300;
  const Json json = ParseAnswer(text);
  const Json& exception = Member(json, "RemoteException");
  std::string message = TextOf(exception, "message");
  // Java's follow with where in its code it happened.
  message.resize(std::min({message.find_first_of("\r\n"), message.size(), kLongestMessage}));
  return {TextOf(exception, "exception"), std::move(message)};
}

Result<WebHdfsStatus> ParseWebHdfsStatus(std::string_view text) {
  const Json json = ParseAnswer(text);
  std::optional<WebHdfsStatus> status = ReadStatus(Member(json, "FileStatus"));
  if (status) return *std::move(status);
  return Unavailable(
      "the server's state of the file is not what WebHDFS describes; check the address");
}

Result<WebHdfsPage> ParseWebHdfsPage(std::string_view text) {
  WebHdfsPage page;
  const auto take = [&page](std::string_view, const Json& entry) {
    std::optional<WebHdfsStatus> status = ReadStatus(entry);
    if (!status || status->name == "." || status->name == ".." ||
        status->name.find('/') != std::string::npos)
      return false;
    page.entries.push_back(*std::move(status));
    return true;
  };
  const Json json = ParseAnswer(
      text, {"FileStatuses/FileStatus", "DirectoryListing/partialListing/FileStatuses/FileStatus"},
      take);
  const Json& batch = Member(json, "DirectoryListing");
  const Json& statuses = batch.is_object() ? Member(Member(batch, "partialListing"), "FileStatuses")
                                           : Member(json, "FileStatuses");
  if (!Member(statuses, "FileStatus").is_array()) {
    return Unavailable(
        "the server's list of a folder is not what WebHDFS describes; check the address");
  }
  page.more = NumberOf(batch, "remainingEntries").value_or(0) > 0;
  return page;
}

}  // namespace stoker
