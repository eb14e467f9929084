#include "stoker/io/remote/http_store.h"

#include <set>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/io/remote/remote_sinks_internal.h"
#include "stoker/io/remote/text_answer_internal.h"

namespace stoker {
namespace {

// For the request of a part: 412 and 416 mean that the file has changed.
Status CheckAnswer(const RemoteLocation& location, const RemoteVersion& version,
                   const HttpAnswer& answer) {
  if (answer.head.status / 100 == 2) return OkStatus();
  return FailedPrecondition(
      "{}: the file changed while it was read: it had {}, and the server says that it has not any "
      "more (HTTP {}); run again, and read files that stay as they are",
      location.name, version.ToString(), answer.head.status);
}

// The version given in a server's answer to `sink`.
Result<RemoteVersion> VersionOfAnswer(const RemoteLocation& location, const HttpAnswer& answer,
                                      const internal::HeadSink& sink) {
  constexpr int kNotSatisfiable = 416;  // an empty file has no first byte
  const int status = answer.head.status;
  if (!sink.head() && status == kNotSatisfiable) {
    return RemoteVersion{
        .size = 0, .etag = answer.head.etag, .last_modified = answer.head.last_modified};
  }
  const HttpHead& head = sink.head() ? *sink.head() : answer.head;
  RemoteVersion version = internal::VersionOf(head);
  STOKER_RETURN_IF_ERROR(CheckAnswer(location, version, answer));
  const bool from_start = head.content_range && head.content_range->first == 0;
  if (version.ranges && (!version.size || !from_start)) {
    return Unavailable(
        "{}: the server sends a part, but does not say which, or of how much; fetch the file by "
        "other means",
        location.name);
  }
  return version;
}

// Pages without a name in a row. Stores may answer so while they pass over what was removed.
constexpr int kMostEmptyPages = 1000;
// The fewest names that pages may have on average once a list is longer than kMostEmptyPages. Those
// of stores have 1,000.
constexpr int64_t kLeastNamesOfAPage = 10;

// A list whose pages say how to ask for the next.
class PagedList final : public RemoteList {
 public:
  PagedList(const HttpStore& store, const RemoteAccess& access, std::string prefix, bool one_level)
      : store_(store),
        container_(access.location),
        access_{container_, access.options, access.cancel},
        prefix_(std::move(prefix)),
        one_level_(one_level) {
    container_.key.clear();
  }

  Result<std::optional<RemotePage>> Next() override {
    if (ended_) return std::nullopt;
    STOKER_ASSIGN_OR_RETURN(
        HttpStore::Page page,
        internal::AskAndParse(store_, access_, store_.ListQuery(prefix_, one_level_, continuation_),
                              internal::kMostListBytes, "a page of the store's list of objects",
                              [&](std::string_view text) { return store_.ReadPage(text); }));
    STOKER_RETURN_IF_ERROR(Check(page));
    if (!page.objects.empty()) first_key_ = page.objects.front().key;
    continuation_ = std::move(page.continuation);
    ended_ = continuation_.empty();
    return std::optional<RemotePage>(std::move(page));
  }

 private:
  Status Check(const HttpStore::Page& page) {
    const bool same_page = !page.objects.empty() && page.objects.front().key == first_key_;
    if (same_page || !asked_.insert(page.continuation).second) {
      return Unavailable(
          "{}: the store's list of objects goes round in circles: it gives {} again; name the "
          "files, or check the endpoint",
          container_.name,
          same_page ? fmt::format("'{}'", ShortText(first_key_)) : "a continuation");
    }
    ++pages_;
    const int64_t names = std::ssize(page.objects) + page.folders;
    names_ += names;
    empty_in_a_row_ = names == 0 ? empty_in_a_row_ + 1 : 0;
    if (empty_in_a_row_ > kMostEmptyPages) {
      return Unavailable(
          "{}: the store's list of objects has {} pages without a name in a row, and says that "
          "there are more; name the files, or check the endpoint",
          container_.name, kMostEmptyPages);
    }
    // A list without end may also have pages that hold a name or two.
    if (pages_ > kMostEmptyPages + names_ / kLeastNamesOfAPage && !page.continuation.empty()) {
      return Unavailable(
          "{}: the store's list of objects has only {} names in {} pages, and says that there are "
          "more; name the files, or check the endpoint",
          container_.name, names_, pages_);
    }
    return OkStatus();
  }

  const HttpStore& store_;
  RemoteLocation container_;
  const RemoteAccess access_;
  const std::string prefix_;
  const bool one_level_;
  std::string continuation_, first_key_;
  std::set<std::string> asked_;  // continuations: one that comes again would go round for ever
  int64_t pages_ = 0, empty_in_a_row_ = 0, names_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<RemoteStore::Found> HttpStore::Find(const RemoteAccess& access, size_t head_bytes) const {
  internal::HeadSink sink(access.location, head_bytes);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(*this, access, sink));
  STOKER_ASSIGN_OR_RETURN(RemoteVersion version, VersionOfAnswer(access.location, answer, sink));
  return Found{std::move(version), sink.TakeContent()};
}

Status HttpStore::ReadRange(const RemoteAccess& access, const RemoteVersion& version,
                            uint64_t offset, std::span<std::byte> out,
                            const Progress& progress) const {
  internal::RangeSink sink(access.location, version, offset, out, progress);
  while (!sink.complete()) {
    const uint64_t before = sink.received();
    STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(*this, access, sink));
    STOKER_RETURN_IF_ERROR(CheckAnswer(access.location, version, answer));
    if (sink.complete()) break;
    if (sink.received() == before) {
      return Unavailable(
          "{}: byte {}: the server says that the file has {} bytes, but sends no more; fetch it by "
          "other means",
          access.location.name, offset + before, version.size.value_or(0));
    }
  }
  return OkStatus();
}

Status HttpStore::ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                            const TakeBytes& take) const {
  internal::WholeSink sink(access.location, version, take);
  STOKER_ASSIGN_OR_RETURN(const HttpAnswer answer, AskServer(*this, access, sink));
  STOKER_RETURN_IF_ERROR(CheckAnswer(access.location, version, answer));
  if (version.size && sink.received() != *version.size) {
    return Unavailable("{}: the server sent {} bytes of {}; fetch the file by other means",
                       access.location.name, sink.received(), *version.size);
  }
  return OkStatus();
}

std::unique_ptr<RemoteList> HttpStore::List(const RemoteAccess& access,
                                            RemoteListRequest request) const {
  return std::make_unique<PagedList>(*this, access, std::move(request.prefix),
                                     request.slashes == 0);
}

std::string HttpStore::ListQuery(const std::string&, bool, const std::string&) const { return ""; }

Result<HttpStore::Page> HttpStore::ReadPage(std::string_view) const {
  return Unimplemented("a {} has no lists", container());
}

}  // namespace stoker
