#include "stoker/base/write_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::write_text_test {

class WriteTextTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  void TearDown() override {
    StopWaitingToWrite(nullptr);
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }

  void Fill() const {
    ASSERT_EQ(::fcntl(writer(), F_SETFL, O_NONBLOCK), 0);
    while (::write(writer(), "x", 1) == 1) {
    }
    ASSERT_EQ(::fcntl(writer(), F_SETFL, 0), 0);
  }

  std::array<int, 2> ends_ = {-1, -1};
};

TEST_F(WriteTextTest, ALongTextArrivesWholeWhileItsReaderTakesItsTime) {
  const std::string text(1 << 20, 'y');
  std::string got;
  std::thread slow([&] {
    std::array<char, 10'000> part;
    while (got.size() < text.size()) {
      const ssize_t bytes = ::read(reader(), part.data(), part.size());
      ASSERT_GT(bytes, 0);
      got.append(part.data(), static_cast<size_t>(bytes));
    }
  });
  EXPECT_TRUE(WriteText(writer(), text));
  slow.join();
  EXPECT_EQ(got, text);
}

TEST_F(WriteTextTest, AReaderThatTakesNothingIsWaitedForUntilTheProgramIsAskedToStop) {
  Fill();
  std::atomic<bool> stopped{false}, ended{false};
  StopWaitingToWrite(&stopped);
  bool written = true;
  int error = 0;
  std::thread writing([&] {
    written = WriteText(writer(), "more");
    error = errno;
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(ended);
  stopped = true;
  writing.join();
  EXPECT_FALSE(written);
  EXPECT_EQ(error, EAGAIN);
}

TEST_F(WriteTextTest, WhatReadsIsToldAllAfterAStopToo) {
  const std::atomic<bool> stopped{true};
  StopWaitingToWrite(&stopped);
  EXPECT_TRUE(WriteText(writer(), "the end"));
  std::array<char, 16> got = {};
  EXPECT_EQ(::read(reader(), got.data(), got.size()), 7);
}

TEST_F(WriteTextTest, AClosedDescriptorIsAnError) {
  ::close(writer());
  const int closed = ends_[1];
  ends_[1] = -1;
  EXPECT_FALSE(WriteText(closed, "text"));
  EXPECT_EQ(errno, EBADF);
}

}  // namespace stoker::write_text_test
