// Whatever a server answers, or a file of settings holds, is understood or passed over; what is
// understood keeps what is promised of it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/http_head.h"
#include "stoker/io/remote/ini_file.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/s3_xml.h"
#include "stoker/io/remote/webhdfs_json.h"

namespace {

using namespace stoker;

void CheckRange(const std::optional<ContentRange>& range) {
  if (!range) return;
  if (range->first.has_value() != range->last.has_value()) std::abort();
  if (range->first && *range->first > *range->last) std::abort();
  if (range->first && range->total && *range->last >= *range->total) std::abort();
}

void CheckHead(std::string_view text) {
  HttpHead head;
  while (!text.empty()) {
    const size_t end = text.find('\n') == text.npos ? text.size() : text.find('\n') + 1;
    TakeHeadLine(text.substr(0, end), head);
    text.remove_prefix(end);
    CheckRange(head.content_range);
    if (head.retry_after_s && *head.retry_after_s < 0) std::abort();
    if (head.status < 0 || head.status > 999) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: CheckHead(text); break;
    case 1: ParseS3Error(text); break;
    case 2: {
      const Result<S3List> list = ParseS3List(text);
      // Names are not longer than what they are made from.
      for (const RemoteObject& object : list.ok() ? list->objects : std::vector<RemoteObject>()) {
        if (object.key.size() > text.size()) std::abort();
      }
      break;
    }
    case 3: ParseIni(text); break;
    case 4: {
      ParseGcsError(text);
      const Result<GcsToken> token = ParseGcsToken(text);
      if (token.ok() && token->value.find_first_of("\r\n") != std::string::npos) std::abort();
      const Result<HttpStore::Page> page = ParseGcsPage(text);
      for (const RemoteObject& object : page.ok() ? page->objects : std::vector<RemoteObject>()) {
        if (object.key.empty() || object.key.size() > text.size()) std::abort();
      }
      break;
    }
    case 5: {
      const Result<GcsCredentials> found = ParseGcsCredentials(text);
      if (found.ok()) (void)GcsTokenForm(*found, 0);
      break;
    }
    case 6: {
      ParseWebHdfsError(text);
      (void)ParseWebHdfsStatus(text);
      const Result<WebHdfsPage> page = ParseWebHdfsPage(text);
      for (const WebHdfsStatus& one : page.ok() ? page->entries : std::vector<WebHdfsStatus>()) {
        if (one.name.find('/') != std::string::npos || one.name == "..") std::abort();
      }
      break;
    }
    default: {
      const Result<RemoteLocation> location = ParseRemotePath(std::string(text));
      if (location.ok() && location->url.find_first_of("\r\n \"<>") != location->url.npos)
        std::abort();
    }
  }
  return 0;
}
