#include "stoker/tools/top/top_terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <string_view>

#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kOtherSignals[] = {SIGWINCH, SIGTSTP, SIGCONT};
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

// Another screen, no cursor, no wrapping at the last column; and back.
constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kLeaveScreen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

// What handlers of signals need.
struct TerminalState {
  int wake[2] = {-1, -1};  // a pipe, by which a handler wakes Wait
  int input = STDIN_FILENO;
  termios before = {};  // the modes of the terminal before it was taken over
  struct sigaction crash_before[std::size(kCrashes)] = {};
  std::atomic<bool> taken{false};         // the terminal is taken over
  std::atomic<bool> knows_before{false};  // `before` is known
  std::atomic<int> end_signal{0};
  std::atomic<bool> resized{false}, stopped{false}, continued{false};
};
TerminalState terminal_state;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "used in signal handlers");

// Only what POSIX allows in a signal handler is called from here on.

void WriteRaw(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// A process in the background must leave the modes to the one in the foreground. A terminal that
// does not control this process has neither.
bool MaySetModes() {
  const pid_t foreground = ::tcgetpgrp(terminal_state.input);
  return foreground < 0 || foreground == ::getpgrp();
}

void Restore() {
  if (!terminal_state.taken.exchange(false)) return;
  WriteRaw(kLeaveScreen);
  if (terminal_state.knows_before && MaySetModes())
    ::tcsetattr(terminal_state.input, TCSANOW, &terminal_state.before);
}

extern "C" void OnEnd(int number) {
  const int error_number = errno;
  int none = 0;
  if (!terminal_state.end_signal.compare_exchange_strong(none, number)) {
    Restore();
    ::_exit(128 + number);
  }
  static_cast<void>(!::write(terminal_state.wake[1], "e", 1));
  errno = error_number;
}

extern "C" void OnOther(int number) {
  const int error_number = errno;
  std::atomic<bool>& seen = number == SIGWINCH  ? terminal_state.resized
                            : number == SIGTSTP ? terminal_state.stopped
                                                : terminal_state.continued;
  seen = true;
  static_cast<void>(!::write(terminal_state.wake[1], "o", 1));
  errno = error_number;
}

// What was there before deals with it, once the fault happens again.
extern "C" void OnCrash(int number) {
  Restore();
  for (size_t i = 0; i < std::size(kCrashes); ++i) {
    if (kCrashes[i] == number) ::sigaction(number, &terminal_state.crash_before[i], nullptr);
  }
  ::raise(number);
}

void Handle(int number, void (*handler)(int), struct sigaction* before = nullptr) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, before);  // without SA_RESTART: waits and writes are to end
}

void InstallHandlers() {
  for (const int number : kEndSignals) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) Handle(number, OnEnd);
  }
  for (const int number : kOtherSignals) Handle(number, OnOther);
  for (size_t i = 0; i < std::size(kCrashes); ++i)
    Handle(kCrashes[i], OnCrash, &terminal_state.crash_before[i]);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : kEndSignals) ::sigaddset(&signals, number);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace

Glyphs GlyphsOfLocale() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return Glyphs::kAscii;
  const bool utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return utf8 ? Glyphs::kUnicode : Glyphs::kAscii;
}

TopTerminal::TopTerminal() : color_(UseColor(STDOUT_FILENO)) {
  terminal_state.end_signal = 0;
  for (auto* each : {&terminal_state.resized, &terminal_state.stopped, &terminal_state.continued})
    *each = false;
  terminal_state.input = ::isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : STDOUT_FILENO;
  terminal_state.knows_before = ::tcgetattr(terminal_state.input, &terminal_state.before) == 0;
  if (::pipe2(terminal_state.wake, O_CLOEXEC | O_NONBLOCK) != 0)
    terminal_state.wake[0] = terminal_state.wake[1] = -1;
  InstallHandlers();
  Enter();
}

TopTerminal::~TopTerminal() {
  Leave();
  for (const int number : {SIGHUP, SIGQUIT}) {
    struct sigaction now = {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler == OnEnd) ::signal(number, SIG_DFL);
  }
  EndOnInterrupt();  // as before
  for (const int number : kOtherSignals) ::signal(number, SIG_DFL);
  for (size_t i = 0; i < std::size(kCrashes); ++i)
    ::sigaction(kCrashes[i], &terminal_state.crash_before[i], nullptr);
  for (int& end : terminal_state.wake) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

// ISIG stays on, so ^C and ^Z are signals, as the user has set them.
void TopTerminal::Enter() {
  entered_ = true;
  shown_.clear();
  if (terminal_state.knows_before) {
    termios raw = terminal_state.before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(terminal_state.input, TCSANOW, &raw);
  }
  terminal_state.taken = true;
  WriteRaw(kEnterScreen);
}

void TopTerminal::Leave() {
  entered_ = false;
  Restore();
}

int TopTerminal::signal() const { return terminal_state.end_signal; }

// The terminal is the shell's until the process is continued.
void TopTerminal::Suspend() {
  Leave();
  ::signal(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  Handle(SIGTSTP, OnOther);
  // The shell may have changed the modes since.
  terminal_state.knows_before = ::tcgetattr(terminal_state.input, &terminal_state.before) == 0;
  Enter();
}

TopTerminal::Event TopTerminal::TakeSignals() {
  char bytes[64];
  while (::read(terminal_state.wake[0], bytes, sizeof bytes) > 0) {
  }
  if (terminal_state.end_signal != 0) return Event::kSignal;
  if (terminal_state.stopped.exchange(false)) {
    Suspend();
    terminal_state.continued = false;
    return Event::kRedraw;
  }
  if (terminal_state.continued.exchange(false)) {  // after a stop that could not be seen coming
    Enter();
    return Event::kRedraw;
  }
  if (!terminal_state.resized.exchange(false)) return Event::kNone;
  shown_.clear();
  return Event::kRedraw;
}

TopTerminal::Event TopTerminal::TakeKeys() {
  constexpr char kControlL = 0x0c, kControlD = 0x04;
  char keys[64];
  const ssize_t got = ::read(terminal_state.input, keys, sizeof keys);
  if (got <= 0) {
    // With these modes 0 says that no key is there, although poll said so: there is no keyboard.
    if (got == 0 || (errno != EINTR && errno != EAGAIN)) keys_ = false;
    return Event::kNone;
  }
  Event event = Event::kNone;
  for (const char key : std::string_view(keys, static_cast<size_t>(got))) {
    if (key == 'q' || key == 'Q' || key == kControlD) return Event::kQuit;
    if (key == kControlL) event = Event::kRedraw;
  }
  if (event == Event::kRedraw) shown_.clear();
  return event;
}

TopTerminal::Event TopTerminal::Wait(double seconds) {
  pollfd sources[] = {{.fd = terminal_state.wake[0], .events = POLLIN, .revents = 0},
                      {.fd = keys_ ? terminal_state.input : -1, .events = POLLIN, .revents = 0}};
  const int ms = static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 60.0) * 1e3));
  const int ready = ::poll(sources, std::size(sources), ms);
  if (terminal_state.end_signal != 0 || (sources[0].revents & POLLIN) != 0) return TakeSignals();
  if (ready > 0 && sources[1].revents != 0) return TakeKeys();
  return Event::kNone;
}

ScreenSize TopTerminal::Size() const {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  // Nobody has a larger one, and each row costs memory.
  constexpr size_t kMost = 2000;
  return {.columns = std::min<size_t>(size.ws_col, kMost),
          .rows = std::min<size_t>(size.ws_row, kMost)};
}

Status TopTerminal::Draw(const std::vector<std::string>& lines, ScreenSize size) {
  if (!entered_) return OkStatus();
  std::string out;
  if (size.columns != shown_size_.columns || size.rows != shown_size_.rows || shown_.empty()) {
    shown_.clear();
    out = "\x1b[2J";
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i < shown_.size() && shown_[i] == lines[i]) continue;
    const bool heading = i == 0 && color_;
    out += fmt::format("\x1b[{};1H{}{}{}", i + 1, heading ? "\x1b[7m" : "", lines[i],
                       heading ? "\x1b[0m" : "");
    // Erasing after the last column would take away its character.
    if (ColumnsOf(lines[i]) < size.columns) out += "\x1b[K";
  }
  if (lines.size() < shown_.size()) out += fmt::format("\x1b[{};1H\x1b[J", lines.size() + 1);
  shown_ = lines;
  shown_size_ = size;
  std::string_view rest = out;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
    if (written >= 0) continue;
    if (errno == EINTR && terminal_state.end_signal == 0) continue;
    if (errno == EINTR) return OkStatus();  // Wait tells of the signal
    if (errno == EAGAIN) {                  // others use the terminal too, and may have set it so
      pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, 1000);
      if (terminal_state.end_signal != 0) return OkStatus();
      continue;
    }
    return ErrnoStatus(errno, "standard output").While("drawing on the terminal");
  }
  return OkStatus();
}

}  // namespace stoker
