#include "tests/chaos/fault_rules.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::chaos {
namespace {

constexpr std::array<std::string_view, kCalls> kCallNames = {
    "open", "read", "write",  "sync",     "rename", "mkdir",  "lock", "map",
    "stat", "list", "remove", "truncate", "memory", "thread", "clock"};

struct Errno {
  std::string_view name;
  int number;
};
constexpr Errno kErrnos[] = {
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EBUSY", EBUSY},   {"EDQUOT", EDQUOT},
    {"EINTR", EINTR},   {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENFILE", ENFILE},
    {"ENOLCK", ENOLCK}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS},
    {"ESTALE", ESTALE},
};

enum class Effect { kError, kShort, kSlow, kJump };

struct Rule {
  Call call = kCalls;
  Effect effect = Effect::kError;
  int64_t value = 0;  // errno, milliseconds or seconds
  uint64_t first = 1;
  uint64_t count = 0;
  std::string part;
  std::string text;  // CALL EFFECT, for the log
  std::atomic<uint64_t> seen{0};
};

constexpr int kMostDescriptors = 1 << 16;
constexpr size_t kMostPaths = 1 << 14;
constexpr uint64_t kMostLines = 200;  // of the log for each rule

// Constant-initialised: calls may come before any constructor has run, and find nothing to do.
std::atomic<bool> ready{false};
std::string* folder = nullptr;
std::vector<Rule*>* rules = nullptr;
bool inside_folder = false;  // the working directory is
int log_descriptor = -1;
std::atomic<const char*> descriptor_paths[kMostDescriptors];
std::atomic<const char*> known_paths[kMostPaths];  // a hash table; leaked: a name for each path

// A copy of `path` that stays: the same one each time, so that a program that opens a file again
// and again takes no memory for it. Paths beyond kMostPaths get a copy each time.
const char* Kept(const char* path) {
  const size_t hash = std::hash<std::string_view>()(path);
  const char* copy = nullptr;
  for (size_t i = 0; i < kMostPaths; ++i) {
    std::atomic<const char*>& place = known_paths[(hash + i) % kMostPaths];
    const char* known = place.load();
    if (known == nullptr) {
      if (copy == nullptr) copy = ::strdup(path);
      if (copy == nullptr || place.compare_exchange_strong(known, copy)) return copy;
    }
    if (std::strcmp(known, path) == 0) {
      ::free(const_cast<char*>(copy));
      return known;
    }
  }
  return copy != nullptr ? copy : ::strdup(path);
}

[[noreturn]] void Die(const std::string& what) {
  const std::string line = "faults: " + what + "\n";
  ::syscall(SYS_write, 2, line.data(), line.size());
  ::_exit(99);
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

void SetEffect(const std::string& name, Rule& rule) {
  if (name == "short") {
    rule.effect = Effect::kShort;
  } else if (name.starts_with("slow-")) {
    rule.effect = Effect::kSlow;
    rule.value = std::stoll(name.substr(5));
  } else if (name.starts_with("jump-")) {
    rule.effect = Effect::kJump;
    rule.value = std::stoll(name.substr(5));
  } else {
    const auto* known = std::ranges::find(kErrnos, name, &Errno::name);
    if (known == std::end(kErrnos)) Die("no effect '" + name + "'");
    rule.value = known->number;
  }
}

Rule* ParseRule(const std::string& text) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.size() < 4 || parts.size() > 5) Die("'" + text + "' is not CALL:EFFECT:FIRST:COUNT");
  auto* const rule = new Rule;
  const auto* call = std::ranges::find(kCallNames, parts[0]);
  if (call == kCallNames.end()) Die("no call '" + parts[0] + "'");
  rule->call = static_cast<Call>(call - kCallNames.begin());
  SetEffect(parts[1], *rule);
  rule->first = std::stoull(parts[2]);
  rule->count = std::stoull(parts[3]);
  if (parts.size() == 5) rule->part = parts[4];
  rule->text = parts[0] + " " + parts[1];
  return rule;
}

bool Below(std::string_view path) {
  return path.starts_with(*folder) &&
         (path.size() == folder->size() || path[folder->size()] == '/');
}

void Note(const Rule& rule, const char* path) {
  char line[512];
  const int length = ::snprintf(line, sizeof(line), "%s %s\n", rule.text.c_str(), path);
  const auto size = static_cast<size_t>(std::clamp<int>(length, 0, sizeof(line) - 1));
  ::syscall(SYS_write, log_descriptor, line, size);
}

struct Fault {
  int error = 0;  // 0: none
  bool is_short = false;
};

// What happens to this call; sleeps where a rule says so.
Fault Meet(Call call, const char* path) {
  Fault fault;
  for (Rule* rule : *rules) {
    if (rule->call != call || rule->effect == Effect::kJump) continue;
    if (!rule->part.empty() && std::strstr(path, rule->part.c_str()) == nullptr) continue;
    const uint64_t number = ++rule->seen;
    if (number < rule->first) continue;
    if (rule->count > 0 && number - rule->first >= rule->count) continue;
    if (number - rule->first < kMostLines) Note(*rule, path);
    switch (rule->effect) {
      case Effect::kError: fault.error = static_cast<int>(rule->value); break;
      case Effect::kShort: fault.is_short = true; break;
      case Effect::kSlow: {
        const timespec time{rule->value / 1000, rule->value % 1000 * 1'000'000};
        ::syscall(SYS_nanosleep, &time, nullptr);
        break;
      }
      case Effect::kJump: break;
    }
  }
  return fault;
}

__attribute__((constructor)) void Begin() {
  const char* const where = ::getenv("STOKER_CHAOS_FOLDER");
  const char* const what = ::getenv("STOKER_CHAOS_RULES");
  const char* const log = ::getenv("STOKER_CHAOS_LOG");
  if (where == nullptr || what == nullptr || log == nullptr) return;
  folder = new std::string(where);
  rules = new std::vector<Rule*>;
  for (const std::string& text : Split(what, ','))
    if (!text.empty()) rules->push_back(ParseRule(text));
  char directory[4096];
  inside_folder = ::syscall(SYS_getcwd, directory, sizeof(directory)) > 0 && Below(directory);
  log_descriptor =
      static_cast<int>(::syscall(SYS_open, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  ready.store(true, std::memory_order_release);
}

}  // namespace

bool IsReady() { return ready.load(std::memory_order_acquire); }

bool IsOfCase(const char* path, int at) {
  if (!IsReady() || path == nullptr) return false;
  if (path[0] == '/') return Below(path);
  if (at == AT_FDCWD) return inside_folder;
  return at >= 0 && at < kMostDescriptors && descriptor_paths[at].load() != nullptr;
}

const char* PathOf(int descriptor) {
  if (!IsReady()) return nullptr;
  if (descriptor < 0 || descriptor >= kMostDescriptors) return nullptr;
  return descriptor_paths[descriptor].load();
}

int Remember(int descriptor, const char* path) {
  if (descriptor < 0 || descriptor >= kMostDescriptors) return descriptor;
  const int error = errno;
  descriptor_paths[descriptor].store(Kept(path));
  errno = error;
  return descriptor;
}

void Forget(int descriptor) {
  if (PathOf(descriptor) != nullptr) descriptor_paths[descriptor].store(nullptr);
}

bool Fails(Call call, const char* path) {
  const Fault fault = Meet(call, path);
  if (fault.error != 0) errno = fault.error;
  return fault.error != 0;
}

ssize_t SizeToAskFor(Call call, int descriptor, size_t size) {
  const char* const path = PathOf(descriptor);
  if (path == nullptr) return static_cast<ssize_t>(size);
  const Fault fault = Meet(call, path);
  if (fault.error != 0) {
    errno = fault.error;
    return -1;
  }
  return static_cast<ssize_t>(fault.is_short ? std::max<size_t>((size + 1) / 2, 1) : size);
}

int64_t ClockJump() {
  int64_t seconds = 0;
  if (!IsReady()) return 0;
  for (Rule* rule : *rules) {
    if (rule->effect != Effect::kJump) continue;
    const uint64_t number = ++rule->seen;
    if (number < rule->first) continue;
    if (number == rule->first) Note(*rule, "clock");
    seconds += rule->value;
  }
  return seconds;
}

}  // namespace stoker::chaos
