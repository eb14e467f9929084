#include "stoker/http/event_stream.h"

#include <gtest/gtest.h>

namespace stoker::event_stream_test {
namespace {

TEST(EventText, HasALineForEachLineOfTheData) {
  EXPECT_EQ(EventText("tick", "{}"), "event: tick\ndata: {}\n\n");
  EXPECT_EQ(EventText("", "a\nb"), "data: a\ndata: b\n\n");
  EXPECT_EQ(EventText("", ""), "data: \n\n");
}

TEST(EventText, NoLineBreakOfItsTextsMakesAnotherField) {
  EXPECT_EQ(EventText("a\nid: 7\rx", "1"), "event: aid: 7x\ndata: 1\n\n");
  EXPECT_EQ(EventText("", "1\r\n2\r3\n\nevent: x"),
            "data: 1\ndata: 2\ndata: 3\ndata: \ndata: event: x\n\n");
}

// A stream as a connection makes it.
class Recorder final : public internal::StreamEnd {
 public:
  StreamWrite Write(std::string piece) override {
    if (answer == StreamWrite::kTaken) text += piece;
    return answer;
  }
  void End() override { ended = true; }

  std::string text;
  bool ended = false;
  StreamWrite answer = StreamWrite::kTaken;
};

TEST(EventListeners, GetEventsUntilTheyHaveGone) {
  EventListeners listeners;
  const auto stays = std::make_shared<Recorder>(), slow = std::make_shared<Recorder>(),
             gone = std::make_shared<Recorder>();
  for (const auto& each : {stays, slow, gone}) listeners.Add(HttpStream(each), "0");
  slow->answer = StreamWrite::kFull;
  gone->answer = StreamWrite::kClosed;
  listeners.Send("1");
  EXPECT_EQ(listeners.size(), 2u);
  slow->answer = StreamWrite::kTaken;
  listeners.Send("2");
  listeners.End("3");
  EXPECT_EQ(stays->text, "0123");
  EXPECT_EQ(slow->text, "023");
  EXPECT_EQ(gone->text, "0");
  EXPECT_TRUE(stays->ended);
  EXPECT_FALSE(gone->ended);
  EXPECT_EQ(listeners.size(), 0u);
}

TEST(EventListeners, OneThatHasGoneBeforeItBeganIsNotKept) {
  EventListeners listeners;
  const auto gone = std::make_shared<Recorder>();
  gone->answer = StreamWrite::kClosed;
  listeners.Add(HttpStream(gone), "first");
  EXPECT_EQ(listeners.size(), 0u);
}

}  // namespace
}  // namespace stoker::event_stream_test
