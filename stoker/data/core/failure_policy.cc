#include "stoker/data/core/failure_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

// Before so many elements have been seen, a share is taken of this many: the first of them may fail
// without ending the run.
constexpr int64_t kFewElements = 1000;

// How the error ends where more have failed than may.
constexpr std::string_view kAllowMore = "correct the data, or allow more";

// A reason may quote what it found; what is kept of it stays small.
constexpr size_t kMaxReason = 300;

std::string Shortened(const std::string& reason) {
  return reason.size() <= kMaxReason ? reason : reason.substr(0, kMaxReason) + "...";
}

struct Place {
  std::string_view file;
  std::optional<uint64_t> record = std::nullopt;
  std::optional<uint64_t> row = std::nullopt;
  std::optional<uint64_t> offset = std::nullopt;
};

// The part of `text` after its last ": ".
std::string_view LastPart(std::string_view text) {
  const size_t context = text.rfind(": ");
  return context == text.npos ? text : text.substr(context + 2);
}

// The number that `text` begins with, which is taken off it.
std::optional<uint64_t> TakeNumberOff(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// The file, the number and what follows it of "[while ...: ]FILE<marker>N...".
struct Numbered {
  std::string_view file;
  uint64_t number;
  std::string_view rest;
};

std::optional<Numbered> NumberAfter(std::string_view reason, std::string_view marker) {
  const size_t at = reason.find(marker);
  if (at == reason.npos) return std::nullopt;
  const std::string_view file = LastPart(reason.substr(0, at));
  std::string_view rest = reason.substr(at + marker.size());
  const std::optional<uint64_t> number = TakeNumberOff(rest);
  if (!number || file.empty()) return std::nullopt;
  return Numbered{file, *number, rest};
}

// The file, record and byte of "[while ...: ]FILE: record N[ (byte M)]: ...".
std::optional<Place> RecordIn(std::string_view reason) {
  constexpr std::string_view kByte = " (byte ";
  std::optional<Numbered> found = NumberAfter(reason, ": record ");
  if (!found) return std::nullopt;
  Place place{.file = found->file, .record = found->number};
  if (!found->rest.starts_with(kByte)) return place;
  found->rest.remove_prefix(kByte.size());
  place.offset = TakeNumberOff(found->rest);
  return place;
}

// The file and row of "[while ...: ]FILE: row N, column 'C'[ (NAME)]: ..." or "FILE: row N: ...". A
// byte that follows is one of the value there.
std::optional<Place> RowIn(std::string_view reason) {
  const std::optional<Numbered> found = NumberAfter(reason, ": row ");
  if (!found || !(found->rest.starts_with(',') || found->rest.starts_with(':')))
    return std::nullopt;
  return Place{.file = found->file, .row = found->number};
}

// The file and byte of a reason in the house's form, that of a record or a row, or "[while ...:
// ]FILE: byte N: ...", or the file of "FILE: ...", where that is a path with folders: other reasons
// begin with a stage's name.
std::optional<Place> PlaceIn(std::string_view reason) {
  constexpr std::string_view kByte = ": byte ";
  if (const std::optional<Place> record = RecordIn(reason)) return record;
  if (const std::optional<Place> row = RowIn(reason)) return row;
  if (reason.find(kByte) == reason.npos) {
    const std::string_view first = reason.substr(0, reason.find(": "));
    if (first.size() == reason.size() || first.find('/') == first.npos) return std::nullopt;
    return Place{.file = first};
  }
  const std::optional<Numbered> found = NumberAfter(reason, kByte);
  if (!found) return std::nullopt;
  return Place{.file = found->file, .offset = found->number};
}

}  // namespace

bool IsTooManyFailures(const Status& status) {
  return status.message().find(kAllowMore) != std::string::npos;
}

Json FailureCount::ToJson() const { return {{"seen", seen}, {"failed", failed}, {"first", first}}; }

Result<FailureCount> FailureCount::FromJson(const Json& json) {
  FailureCount count;
  STOKER_ASSIGN_OR_RETURN(count.seen, SavedInteger(json, "seen"));
  STOKER_ASSIGN_OR_RETURN(count.failed, SavedInteger(json, "failed"));
  const auto first = json.find("first");
  if (first == json.end() || !first->is_string()) {
    return DataLoss(
        "the saved pipeline position counts failed elements, but does not say why the first one "
        "failed; it is damaged");
  }
  count.first = first->get<std::string>();
  return count;
}

Status FailurePolicy::Prepare(LossLogs& logs) const {
  return options_.log.empty() ? OkStatus() : logs.Open(options_.log);
}

int64_t FailurePolicy::Allowed(int64_t elements) const {
  // All may: more than there are, where some are read more than once in an epoch (`window`).
  const int64_t by_share =
      options_.share == 1
          ? std::numeric_limits<int64_t>::max()
          : static_cast<int64_t>(std::ceil(options_.share * static_cast<double>(elements)));
  return options_.limit ? std::min(*options_.limit, by_share) : by_share;
}

Status FailurePolicy::Record(const Element& failed, const Pass& pass, const StageResources& stage,
                             FailureCount& count) const {
  const Status& reason = failed.failure->reason;
  if (count.failed++ == 0) {
    count.first = Json::parse(DumpJson(Shortened(reason.ToString()))).get<std::string>();
  }
  if (!options_.log.empty()) {
    const std::string line = QuarantineLine(failed, options_.verb, pass.loss_logs().pass());
    Buffer text = Buffer::Allocate(line.size(), stage.account);
    std::memcpy(text.data(), line.data(), line.size());
    LossScope::Add({options_.log, std::move(text)});
  }
  const int64_t few = std::min(kFewElements, options_.epoch_elements.value_or(kFewElements));
  const int64_t allowed = Allowed(std::max(count.seen, few));
  return count.failed > allowed ? TooMany(count, allowed, &reason, pass.loss_logs().Writes())
                                : OkStatus();
}

Status FailurePolicy::CheckAtEnd(const FailureCount& count, const LossLogs& logs) const {
  const int64_t allowed = Allowed(count.seen);
  if (count.failed <= allowed) return OkStatus();
  return TooMany(count, allowed, nullptr, logs.Writes());
}

Status FailurePolicy::TooMany(const FailureCount& count, int64_t allowed, const Status* last,
                              bool logged) const {
  const bool by_limit = options_.limit && allowed == *options_.limit;
  const std::string rule =
      by_limit ? fmt::format("limit {}", *options_.limit) : fmt::format("share {}", options_.share);
  const std::string of = count.seen > 0 ? fmt::format(" of {}", count.seen) : "";
  const std::string last_reason =
      last == nullptr ? "" : fmt::format("; the last: {}", Shortened(last->ToString()));
  const std::string where =
      options_.log.empty() ? "name a log to see them all" : WhereAllAre(logged);
  return {
      last == nullptr ? StatusCode::kDataLoss : last->code(),
      fmt::format("{}{} elements of this epoch have failed, but only {} may ({}); the first: "
                  "{}{}; {}; {}",
                  count.failed, of, allowed, rule, count.first, last_reason, where, kAllowMore)};
}

std::string FailurePolicy::WhereAllAre(bool logged) const {
  return (logged ? "all are in " : "this pass does not write them to ") + options_.log;
}

void FailurePolicy::Summarize(const FailureCount& count, uint64_t epoch, bool logged) const {
  {
    const MutexLock lock(mutex_);
    if (count.failed == std::exchange(reported_failed_, count.failed)) return;
  }
  const std::string of = count.seen > 0 ? fmt::format(" of {}", count.seen) : "";
  const std::string logged_in = options_.log.empty() ? "" : "; " + WhereAllAre(logged);
  if (count.failed == 1) {
    LogWarning("epoch {}: 1{} failed and was {}: {}{}", epoch,
               of.empty() ? " element" : of + " elements", options_.verb, count.first, logged_in);
    return;
  }
  LogWarning("epoch {}: {}{} elements failed and were {}; the first: {}{}", epoch, count.failed, of,
             options_.verb, count.first, logged_in);
}

std::string FailurePolicy::Details() const {
  return fmt::format(
      "{}share {}{}", options_.limit ? fmt::format("limit {}, ", *options_.limit) : "",
      options_.share, options_.log.empty() ? "" : fmt::format(", log {}", options_.log));
}

std::string QuarantineLine(const Element& failed, const std::string& verb,
                           const std::string& pass) {
  const std::string reason = failed.failure->reason.ToString();
  Json line{{"epoch", failed.key.epoch},
            {"stage", failed.failure->stage},
            {"action", verb},
            {"reason", reason},
            {"pass", pass}};
  if (failed.key.index >= 0) line["index"] = failed.key.index;
  if (const std::optional<Place> place = PlaceIn(failed.failure->reason.message())) {
    line["file"] = place->file;
    if (place->record) line["record"] = *place->record;
    if (place->row) line["row"] = *place->row;
    if (place->offset) line["offset"] = *place->offset;
  }
  return DumpJson(line);
}

}  // namespace stoker
