#include "stoker/data/sources/parts_in_use_internal.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker::parts_in_use_internal_test {

using Parts = PartsInUse<int, std::string>;

constexpr uint64_t kNoLimit = 1 << 20;

bool Keep(const std::string&) { return true; }

// The part as one user has it for a while.
void UseOnce(Parts& parts, int key) {
  parts.Use(key, 10).value = "there";
  parts.Leave(key, Keep);
}

TEST(PartsInUse, ThoseUsedLastAreKeptAsFarAsThereIsRoom) {
  Parts parts(/*most_kept=*/20);
  for (const int key : {0, 1, 0, 2}) UseOnce(parts, key);
  parts.DropIdle(kNoLimit, 0);
  EXPECT_EQ(parts.Find(1), nullptr);
  EXPECT_NE(parts.Find(0), nullptr);
  EXPECT_NE(parts.Find(2), nullptr);
  EXPECT_EQ(parts.bytes_in_use(), 0u);
}

TEST(PartsInUse, WhatIsInUseIsNeverDroppedAndMakesOthersGo) {
  Parts parts(/*most_kept=*/1000);
  parts.Use(0, 10);
  parts.Use(0, 10);
  UseOnce(parts, 1);
  UseOnce(parts, 2);
  parts.Leave(0, Keep);
  parts.Reserve(5);
  parts.DropIdle(/*limit=*/25, /*fewest=*/0);
  EXPECT_NE(parts.Find(0), nullptr) << "it has another user";
  EXPECT_EQ(parts.Find(1), nullptr);
  EXPECT_NE(parts.Find(2), nullptr) << "10 in use, 5 reserved and 10 kept fit";
  EXPECT_EQ(parts.bytes_in_use(), 15u);
  parts.Return(5);
  parts.SetBytes(*parts.Find(0), 24);
  EXPECT_EQ(parts.bytes_in_use(), 24u);
  parts.DropIdle(/*limit=*/25, /*fewest=*/1);
  EXPECT_NE(parts.Find(2), nullptr) << "one is kept whatever the limit";
  parts.DropIdle(/*limit=*/25, /*fewest=*/0);
  EXPECT_EQ(parts.Find(2), nullptr);
}

TEST(PartsInUse, WhatIsNotWorthKeepingGoesWithItsLastUser) {
  Parts parts(/*most_kept=*/1000);
  parts.Use(0, 10);
  parts.Use(0, 10);
  const auto never = [](const std::string&) { return false; };
  parts.Leave(0, never);
  EXPECT_NE(parts.Find(0), nullptr);
  parts.Leave(0, never);
  EXPECT_EQ(parts.Find(0), nullptr);
  EXPECT_EQ(parts.bytes_in_use(), 0u);
}

}  // namespace stoker::parts_in_use_internal_test
