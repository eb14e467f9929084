#include "stoker/train/loop/background_task.h"

#include <latch>
#include <stdexcept>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::background_task_test {

TEST(BackgroundTask, GoesOnWhileItsOwnerDoes) {
  std::latch let_go(1);
  BackgroundTask task;
  EXPECT_FALSE(task.pending());
  task.Begin("test", [&] {
    let_go.wait();
    return OkStatus();
  });
  EXPECT_TRUE(task.pending());
  EXPECT_FALSE(task.done());
  let_go.count_down();
  STOKER_EXPECT_OK(task.Take());
  EXPECT_FALSE(task.pending());
  EXPECT_FALSE(task.done());
}

TEST(BackgroundTask, SaysWhenItIsDoneAndGivesItsErrorOnce) {
  BackgroundTask task;
  task.Begin("test", [] { return DataLoss("the work failed"); });
  while (!task.done()) std::this_thread::yield();
  EXPECT_THAT(task.Take(), FailsWith(StatusCode::kDataLoss, "the work failed"));
  task.Begin("test", [] { return OkStatus(); });
  STOKER_EXPECT_OK(task.Take());
}

TEST(BackgroundTask, DoesItAtOnceWhereAskedTo) {
  BackgroundTask task;
  const std::thread::id here = std::this_thread::get_id();
  std::thread::id there;
  task.Do([&] {
    there = std::this_thread::get_id();
    return Unavailable("not now");
  });
  EXPECT_TRUE(task.done());
  EXPECT_EQ(there, here);
  EXPECT_THAT(task.Take(), FailsWith(StatusCode::kUnavailable, "not now"));
}

TEST(BackgroundTask, WhatItThrowsIsAnError) {
  BackgroundTask task;
  task.Begin("test", []() -> Status { throw std::runtime_error("thrown"); });
  EXPECT_THAT(task.Take(), FailsWith(StatusCode::kInternal, "thrown"));
}

TEST(BackgroundTask, IsWaitedForWhenItIsDestroyed) {
  bool ended = false;
  {
    BackgroundTask task;
    task.Begin("test", [&] {
      std::this_thread::yield();
      ended = true;
      return OkStatus();
    });
  }
  EXPECT_TRUE(ended);
}

}  // namespace stoker::background_task_test
