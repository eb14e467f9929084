#include "stoker/machine/processes/proc_lines.h"

#include <sys/syscall.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  text = Trimmed(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text = Trimmed(text.substr(end));
  }
  return words;
}

int64_t CountAt(const std::vector<std::string_view>& words, size_t index) {
  return index < words.size() ? ParseCount(words[index]).value_or(0) : 0;
}

ThreadState StateOfCall(int64_t number) {
  switch (number) {
    case SYS_futex: return ThreadState::kLock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return ThreadState::kSleep;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait: return ThreadState::kPoll;
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect: return ThreadState::kNetwork;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2: return ThreadState::kRead;
    case SYS_wait4:
    case SYS_waitid: return ThreadState::kChild;
    default: return ThreadState::kOther;
  }
}

// The kernel's functions, by a part of their names.
constexpr std::pair<std::string_view, ThreadState> kSleepsIn[] = {
    {"futex", ThreadState::kLock},     {"nanosleep", ThreadState::kSleep},
    {"poll", ThreadState::kPoll},      {"select", ThreadState::kPoll},
    {"ep_wait", ThreadState::kPoll},   {"recv", ThreadState::kNetwork},
    {"accept", ThreadState::kNetwork}, {"skb", ThreadState::kNetwork},
    {"pipe", ThreadState::kRead},      {"read", ThreadState::kRead},
    {"do_wait", ThreadState::kChild},
};

}  // namespace

std::optional<StatLine> ParseStat(std::string_view text) {
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  const std::optional<int64_t> pid = ParseCount(text.substr(0, open));
  const std::vector<std::string_view> words = Words(text.substr(close + 1));
  // proc(5) counts fields from 1, and the state, the first word here, is the third of them.
  constexpr size_t kFirst = 3, kMemory = 24;
  if (!pid || words.size() < kMemory - kFirst + 1 || words[0].size() != 1) return std::nullopt;
  const auto field = [&](size_t number) { return CountAt(words, number - kFirst); };
  return StatLine{.pid = *pid,
                  .parent = field(4),
                  .name = std::string(text.substr(open + 1, close - open - 1)),
                  .state = words[0][0],
                  .minor_faults = field(10),
                  .major_faults = field(12),
                  .user_ticks = field(14),
                  .system_ticks = field(15),
                  .threads = field(20),
                  .start = field(22),
                  .memory_pages = field(kMemory)};
}

std::optional<SchedstatLine> ParseSchedstat(std::string_view text) {
  const std::vector<std::string_view> words = Words(text);
  if (words.size() < 2) return std::nullopt;
  const auto cpu = ParseCount(words[0]), queued = ParseCount(words[1]);
  if (!cpu || !queued) return std::nullopt;
  return SchedstatLine{.cpu_ns = *cpu, .queued_ns = *queued, .slices = CountAt(words, 2)};
}

bool NeedsWchan(std::string_view syscall) {
  return syscall.empty() || ParseCount(syscall.substr(0, syscall.find(' '))) == SYS_restart_syscall;
}

ThreadState StateOf(char state, std::string_view syscall, std::string_view wchan) {
  switch (state) {
    case 'R': return ThreadState::kRunning;
    case 'D': return ThreadState::kDisk;
    case 'Z':
    case 'X': return ThreadState::kEnded;
    case 'S': break;
    default: return ThreadState::kOther;
  }
  int64_t number = -1;
  const auto [end, error] =
      std::from_chars(syscall.data(), syscall.data() + syscall.size(), number);
  // A wait that was interrupted, as by a tracer, goes on as this call, whatever it was before.
  const bool goes_on = error == std::errc() && number == SYS_restart_syscall;
  if (error == std::errc() && number >= 0 && !goes_on) return StateOfCall(number);
  if (!syscall.empty() && !goes_on) return ThreadState::kOther;  // "running": it woke up meanwhile
  for (const auto& [part, waits] : kSleepsIn) {
    if (wchan.find(part) != wchan.npos) return waits;
  }
  return ThreadState::kOther;
}

}  // namespace stoker
