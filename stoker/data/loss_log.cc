#include "stoker/data/loss_log.h"

#include <utility>

#include "stoker/data/saved_unsigned.h"
#include "stoker/io/append_line.h"

namespace stoker {
namespace {

thread_local LossScope* innermost = nullptr;

}  // namespace

Status LossLogs::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, PrepareToAppend(path));
  const std::lock_guard lock(mutex_);
  bytes_.try_emplace(path, bytes);
  return OkStatus();
}

Status LossLogs::Write(const LossLine& line) {
  const std::string_view text(reinterpret_cast<const char*>(line.text.data()), line.text.size());
  STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, AppendLine(line.path, text));
  const std::lock_guard lock(mutex_);
  bytes_[line.path] = bytes;
  return OkStatus();
}

Json LossLogs::Save() const {
  const std::lock_guard lock(mutex_);
  Json saved;
  for (const auto& [path, bytes] : bytes_) saved[path] = bytes;
  return saved;
}

Status LossLogs::CutBack(const Json& saved) {
  const std::lock_guard lock(mutex_);
  for (auto& [path, bytes] : bytes_) {
    if (!saved.is_object() || !saved.contains(path)) continue;
    STOKER_ASSIGN_OR_RETURN(const uint64_t then, SavedUnsigned(saved, path.c_str()));
    const auto is_ours = [&](std::string_view text) {
      const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
      return line.is_object() && line.contains("pass") && line["pass"] == pass_;
    };
    STOKER_ASSIGN_OR_RETURN(bytes, TakeBackLines(path, then, is_ours));
  }
  return OkStatus();
}

LossScope::LossScope() : around_(std::exchange(innermost, this)) {}

LossScope::~LossScope() { innermost = around_; }

void LossScope::Add(LossLine line) {
  if (innermost != nullptr) innermost->lines_.push_back(std::move(line));
}

}  // namespace stoker
