// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): messages
// that a page receives as they happen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/http/reply.h"

namespace stoker {

// Returns one event as text of the stream. `name` may be empty. A line break in `data` becomes one
// there; in `name` it would end the field, so it is left out.
std::string EventText(std::string_view name, std::string_view data);

// Returns the status and headers with which a stream of events begins.
HttpResponse EventStreamHead();

// The listeners to one series of events. Thread-safe; never blocks.
class EventListeners {
 public:
  // Adds a stream that has begun, after `first`, which it alone gets; may be empty.
  void Add(HttpStream stream, std::string first);

  // Sends to all. A listener that has gone is forgotten; one that is too slow misses the event.
  void Send(const std::string& event);

  // Sends a last event and ends all streams.
  void End(const std::string& event);

  size_t size() const;

 private:
  mutable Mutex mutex_;
  std::vector<HttpStream> streams_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
