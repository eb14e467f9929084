#include "stoker/base/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::problems_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Problems, AreSuccessWhereNothingIsWrong) {
  Problems problems;
  problems.Add(OkStatus());
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(problems.ToStatus().ok());
  EXPECT_THAT(ProblemsIn(problems.ToStatus()), IsEmpty());
}

TEST(Problems, OfOneAreThatError) {
  Problems problems;
  problems.Add(DataLoss("a.idx: byte 4"));
  EXPECT_EQ(problems.ToStatus().code(), StatusCode::kDataLoss);
  EXPECT_EQ(problems.ToStatus().message(), "a.idx: byte 4");
}

TEST(Problems, AreTakenApartInTheirOrderHoweverOftenTheyWereJoined) {
  Problems inner, outer;
  inner.Add(InvalidArgument("second"));
  inner.Add(NotFound("third"));
  outer.Add(NotFound("first"));
  outer.Add(inner.ToStatus());
  outer.Add(InvalidArgument("fourth"));
  EXPECT_THAT(ProblemsIn(outer.ToStatus()), ElementsAre("first", "second", "third", "fourth"));
  EXPECT_EQ(outer.ToStatus().code(), StatusCode::kNotFound);
}

TEST(Problems, AreNamedOnce) {
  Problems problems;
  problems.Add(InvalidArgument("same"));
  problems.Add(InvalidArgument("same"));
  EXPECT_THAT(ProblemsIn(problems.ToStatus()), ElementsAre("same"));
}

TEST(Problems, ArePrefixedOneByOne) {
  Problems problems;
  problems.Add(NotFound("a"));
  problems.Add(NotFound("b"));
  const Status prefixed = WithPrefix("zip: ", problems.ToStatus());
  EXPECT_THAT(ProblemsIn(prefixed), ElementsAre("zip: a", "zip: b"));
  EXPECT_EQ(prefixed.code(), StatusCode::kNotFound);
  EXPECT_TRUE(WithPrefix("zip: ", OkStatus()).ok());
}

TEST(Problems, TakeAValueOrItsError) {
  Problems problems;
  int value = 1;
  problems.Take(Result<int>(2), value);
  EXPECT_EQ(value, 2);
  problems.Take(Result<int>(InvalidArgument("no number")), value);
  EXPECT_EQ(value, 2);
  EXPECT_THAT(ProblemsIn(problems.ToStatus()), ElementsAre("no number"));
}

}  // namespace stoker::problems_test
