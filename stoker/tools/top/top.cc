#include "stoker/tools/top/top.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/json_text.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/top/top_line.h"
#include "stoker/tools/top/top_screen.h"
#include "stoker/tools/top/top_terminal.h"
#include "stoker/tools/top/top_watch.h"

namespace stoker {
namespace {

// Where `stoker train` makes runs.
constexpr const char* kRuns = "runs";

std::string TimeOfDay() {
  const time_t now = ::time(nullptr);
  tm local = {};
  std::array<char, 16> text = {};
  if (::localtime_r(&now, &local) == nullptr) return "";
  ::strftime(text.data(), text.size(), "%H:%M:%S", &local);
  return text.data();
}

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool HasEnded(const TopWatch& watch) { return watch.history().state == TopState::kEnded; }

Status PrintLine(const TopWatch& watch, bool json) {
  return PrintResult((json ? DumpJson(TopJson(watch.history(), UnixSeconds()))
                           : TopLine(watch.history(), TimeOfDay())) +
                     "\n");
}

// What stays on the terminal of a target that has ended.
Status PrintScreen(const TopWatch& watch, ScreenSize size) {
  const std::vector<std::string> lines = TopScreen(watch.history(), size, GlyphsOfLocale());
  return PrintResult(fmt::format("{}\n", fmt::join(lines, "\n")));
}

Status ShowLines(TopWatch& watch, bool json) {
  // Rates need a second look.
  while (!HasEnded(watch)) {
    std::this_thread::sleep_for(std::chrono::duration<double>(watch.SecondsUntilDue()));
    if (watch.DoWhatIsDue()) STOKER_RETURN_IF_ERROR(PrintLine(watch, json));
  }
  return OkStatus();
}

// Ends with the size of the screen if the target has ended; with nothing if the user wants it to.
Result<std::optional<ScreenSize>> ShowScreens(TopWatch& watch, int& signal) {
  const Glyphs glyphs = GlyphsOfLocale();
  TopTerminal terminal;
  while (true) {
    const ScreenSize size = terminal.Size();
    STOKER_RETURN_IF_ERROR(terminal.Draw(TopScreen(watch.history(), size, glyphs), size));
    for (bool again = false; !again;) {
      switch (terminal.Wait(watch.SecondsUntilDue())) {
        case TopTerminal::Event::kQuit: return std::optional<ScreenSize>();
        case TopTerminal::Event::kSignal:
          signal = terminal.signal();
          return std::optional<ScreenSize>();
        case TopTerminal::Event::kRedraw: again = true; break;
        case TopTerminal::Event::kNone: break;
      }
      again = watch.DoWhatIsDue() || again;
    }
    if (HasEnded(watch)) return std::optional<ScreenSize>(size);
  }
}

Status ShowOnTerminal(TopWatch& watch) {
  int signal = 0;
  STOKER_ASSIGN_OR_RETURN(const std::optional<ScreenSize> ended, ShowScreens(watch, signal));
  if (ended) return PrintScreen(watch, *ended);
  if (signal == 0) return OkStatus();
  // As every other command ends: SIGINT and SIGTERM have handlers, which say so.
  ::raise(signal);
  return Cancelled("stopped by signal {}", signal);
}

}  // namespace

Status RunTop(const TopArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(TopWatch watch, TopWatch::Open(arguments.target, kRuns));
  const bool screen = !arguments.json && IsTerminal(STDOUT_FILENO);
  if (HasEnded(watch)) return screen ? PrintScreen(watch, {}) : PrintLine(watch, arguments.json);
  return screen ? ShowOnTerminal(watch) : ShowLines(watch, arguments.json);
}

}  // namespace stoker
