#include "stoker/tools/live/thinned_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace stoker::thinned_rows_test {
namespace {

using testing::ElementsAre;

TEST(ThinnedRows, KeepsEachRowUntilThereAreTooMany) {
  ThinnedRows rows(4);
  for (const double x : {1.0, 2.0, 3.0}) rows.Add({x, 10 * x});
  EXPECT_THAT(rows.rows(), ElementsAre(ElementsAre(1, 10), ElementsAre(2, 20), ElementsAre(3, 30)));
  rows.Add({4, 40});
  EXPECT_THAT(rows.rows(), ElementsAre(ElementsAre(1.5, 15), ElementsAre(3.5, 35)));
  EXPECT_EQ(rows.stride(), 2);
  rows.Add({5, 50});
  EXPECT_THAT(rows.rows().back(), ElementsAre(5, 50)) << "what has begun is shown";
}

TEST(ThinnedRows, StayWithinTheirBoundAndKeepTheMean) {
  for (const size_t most : {2, 3, 100}) {
    ThinnedRows rows(most);
    for (int i = 0; i < 100000; ++i) {
      rows.Add({static_cast<double>(i)});
      ASSERT_LE(rows.rows().size(), most);
    }
    const auto all = rows.rows();
    double before = -1;
    for (const auto& row : all) {
      EXPECT_GT(row[0], before);
      before = row[0];
    }
    EXPECT_LE(all.front()[0], static_cast<double>(rows.stride()));
  }
}

TEST(ThinnedRows, WhatARowLacksDoesNotCount) {
  ThinnedRows rows(2);
  rows.Add({1, NAN});
  rows.Add({3, 5, 7});
  EXPECT_THAT(rows.rows(), ElementsAre(ElementsAre(2, 5, 7)));
  rows.Clear();
  rows.Add({NAN});
  EXPECT_TRUE(std::isnan(rows.rows()[0][0]));
  EXPECT_EQ(rows.stride(), 1);
}

}  // namespace
}  // namespace stoker::thinned_rows_test
