// The terminal while `stoker top` draws on it: its modes, keys and signals.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/glyphs.h"
#include "stoker/tools/top/top_screen.h"

namespace stoker {

// Returns what the locale of the environment lets a terminal show.
Glyphs GlyphsOfLocale();

// Takes over standard output, which must be a terminal: shows another screen on it, hides the
// cursor, and turns echo off. The destructor restores all of it, and so do signals that end the
// process, also those of a crash, and a stop (^Z), after which it is taken over again.
//
// From construction on, SIGINT, SIGTERM, SIGHUP and SIGQUIT are events; the second of them ends the
// process at once. Those that were ignored stay ignored. One at a time in a process; used by one
// thread.
class TopTerminal {
 public:
  TopTerminal();
  ~TopTerminal();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;

  enum class Event {
    kNone,    // the time is over
    kRedraw,  // the size has changed, the process was continued, or ^L
    kQuit,    // q
    kSignal,  // see signal()
  };
  // Waits for an event, at most so long.
  Event Wait(double seconds);

  // The signal that asked for the end; 0: none.
  int signal() const;

  ScreenSize Size() const;

  // Shows the lines, of which only those are written that have changed. Errors: kUnavailable if the
  // terminal is gone.
  Status Draw(const std::vector<std::string>& lines, ScreenSize size);

  // Restores the terminal now; nothing may be drawn after it.
  void Leave();

 private:
  void Enter();
  void Suspend();
  Event TakeSignals();
  Event TakeKeys();

  const bool color_;
  bool entered_ = false;
  bool keys_ = true;  // more may come
  std::vector<std::string> shown_;
  ScreenSize shown_size_ = {.columns = 0, .rows = 0};
};

}  // namespace stoker
