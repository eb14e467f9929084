#include "stoker/data/core/loss_log.h"

#include <functional>
#include <utility>

#include "stoker/data/core/saved_unsigned.h"
#include "stoker/io/append_line.h"
#include "stoker/io/side_files.h"

namespace stoker {
namespace {

thread_local LossScope* innermost = nullptr;

std::string_view TextOf(const LossLine& line) {
  return {reinterpret_cast<const char*>(line.text.data()), line.text.size()};
}

// Two lines of a log have the same one hardly ever.
uint64_t HashOf(std::string_view line) { return std::hash<std::string_view>()(line); }

}  // namespace

bool LossLogs::IsOurs(std::string_view line) const {
  const Json parsed = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() && parsed.contains("pass") && parsed["pass"] == pass_;
}

bool LossLogs::Writes() const { return logging_ != LossLogging::kNone && WritesSideFiles(); }

Status LossLogs::Open(const std::string& path) {
  if (!Writes()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, PrepareToAppend(path));
  const MutexLock lock(mutex_);
  const auto [entry, is_new] = logs_.try_emplace(path, Log{.bytes = bytes, .there = {}});
  if (!is_new || logging_ != LossLogging::kOnce) return OkStatus();
  return VisitLines(path, [&log = entry->second, this](std::string_view line) {
    if (IsOurs(line)) ++log.there[HashOf(line)];
  });
}

bool LossLogs::IsWanted(const LossLine& line) {
  if (logging_ != LossLogging::kOnce) return logging_ == LossLogging::kEach;
  const MutexLock lock(mutex_);
  auto& there = logs_[line.path].there;
  const auto met = there.find(HashOf(TextOf(line)));
  if (met == there.end()) return true;
  if (--met->second == 0) there.erase(met);
  return false;
}

Status LossLogs::Write(const LossLine& line) {
  if (!WritesSideFiles() || !IsWanted(line)) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, AppendLine(line.path, TextOf(line)));
  const MutexLock lock(mutex_);
  logs_[line.path].bytes = bytes;
  return OkStatus();
}

Json LossLogs::Save() const {
  Json saved;
  if (logging_ != LossLogging::kEach) return saved;
  const MutexLock lock(mutex_);
  for (const auto& [path, log] : logs_) saved[path] = log.bytes;
  return saved;
}

Status LossLogs::CutBack(const Json& saved) {
  if (logging_ != LossLogging::kEach) return OkStatus();
  const MutexLock lock(mutex_);
  for (auto& [path, log] : logs_) {
    if (!saved.is_object() || !saved.contains(path)) continue;
    STOKER_ASSIGN_OR_RETURN(const uint64_t then, SavedUnsigned(saved, path.c_str()));
    STOKER_ASSIGN_OR_RETURN(log.bytes, TakeBackLines(path, then, [this](std::string_view line) {
                              return IsOurs(line);
                            }));
  }
  return OkStatus();
}

LossScope::LossScope() : around_(std::exchange(innermost, this)) {}

LossScope::~LossScope() { innermost = around_; }

void LossScope::Add(LossLine line) {
  if (innermost != nullptr) innermost->lines_.push_back(std::move(line));
}

}  // namespace stoker
