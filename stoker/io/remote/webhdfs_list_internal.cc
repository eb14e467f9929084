#include "stoker/io/remote/webhdfs_list_internal.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/short_text.h"
#include "stoker/io/remote/text_answer_internal.h"
#include "stoker/io/remote/webhdfs_json.h"

namespace stoker::internal {
namespace {

constexpr size_t kMostFolderBytes = 32 << 20;  // of LISTSTATUS, which has no pages
constexpr int kDeepest = 100;                  // folders in folders

// Folder after folder.
class FolderList final : public RemoteList {
 public:
  FolderList(const HttpDialect& dialect, const RemoteAccess& access, RemoteListRequest request)
      : dialect_(dialect),
        location_(access.location),
        access_{location_, access.options, access.cancel},
        prefix_(std::move(request.prefix)),
        deepest_(request.slashes.value_or(kDeepest)),
        all_(!request.slashes),
        enters_(std::move(request.enters)) {
    // The folder that the names of the prefix lie in, and what they begin with there.
    folders_.push_back({prefix_.substr(0, prefix_.rfind('/') + 1), 0});
  }

  Result<std::optional<RemotePage>> Next() override {
    if (folders_.empty()) return std::nullopt;
    const Folder folder = folders_.back();
    Result<WebHdfsPage> asked = Ask(folder.key);
    // One that was removed after it had been listed is as one that was removed before.
    const bool gone = !asked.ok() && asked.status().code() == StatusCode::kNotFound;
    if (gone && folder.depth > 0) asked = WebHdfsPage();
    STOKER_ASSIGN_OR_RETURN(const WebHdfsPage page, std::move(asked));
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
      const bool enters = folder.depth < deepest_ && (!enters_ || enters_(key + "/"));
      if (enters) below.push_back({key + "/", folder.depth + 1});
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
    const Result<std::string> text =
        AskForText(dialect_, access_, query, batches_ ? kMostListBytes : kMostFolderBytes,
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
        location_.name,
        after_.empty() ? "a page without names" : fmt::format("'{}'", ShortText(after_)));
  }

  const HttpDialect& dialect_;
  RemoteLocation location_;
  const RemoteAccess access_;
  const std::string prefix_;
  const int deepest_;
  const bool all_;                                        // also those in folders, however deep
  const std::function<bool(const std::string&)> enters_;  // RemoteListRequest
  std::vector<Folder> folders_;                           // to be listed; the last one next
  std::string after_;                                     // the last name of the page before
  std::set<std::string> seen_;                            // those of this folder
  bool batches_ = true, answered_ = false;
};

}  // namespace

std::unique_ptr<RemoteList> ListWebHdfs(const HttpDialect& dialect, const RemoteAccess& access,
                                        RemoteListRequest request) {
  return std::make_unique<FolderList>(dialect, access, std::move(request));
}

}  // namespace stoker::internal
