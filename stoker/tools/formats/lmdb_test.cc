#include <gtest/gtest.h>

#include "stoker/base/testing.h"
#include "stoker/formats/lmdb/lmdb_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/inspect/verify_file.h"

namespace stoker::lmdb_test {

class InspectLmdbTest : public testing::Test {
 protected:
  std::string Write(const std::string& file) const {
    const std::string path = directory_ / "data.mdb";
    STOKER_EXPECT_OK(WriteFileAtomically(path, file));
    return path;
  }
  const TempDir directory_;
};

// As libraries leave a file whose values are all in one database with a name.
TEST_F(InspectLmdbTest, TheOnlyDatabaseWithValuesIsTheFiles) {
  LmdbBuilder builder;
  const std::string train = builder.Add(LmdbNodes(200));
  const std::string path = Write(builder.File(builder.Add({{"train", train, 2}})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Inspection found, InspectFile(path, /*samples=*/1));
  STOKER_EXPECT_OK(found.damage);
  EXPECT_EQ(found.json["count"], 200);
  EXPECT_EQ(found.json["databases"]["train"]["count"], 200);
  EXPECT_EQ(found.json["samples"].size(), 1u);
  EXPECT_EQ(VerifyFile(path).count, 200);
  EXPECT_TRUE(VerifyFile(path).whole());
}

TEST_F(InspectLmdbTest, EveryDatabaseIsListedWithItsCount) {
  LmdbBuilder builder;
  const std::string train = builder.Add(LmdbNodes(20)), eval = builder.Add(LmdbNodes(5));
  const std::string path =
      Write(builder.File(builder.Add({{"eval", eval, 2}, {"train", train, 2}, {"x", "y", 0}})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Inspection found, InspectFile(path));
  EXPECT_EQ(found.json["count"], 1) << "a source reads the main one unless it names another";
  EXPECT_EQ(found.json["databases"][""]["count"], 1);
  EXPECT_EQ(found.json["databases"]["eval"]["count"], 5);
  EXPECT_EQ(found.json["databases"]["train"]["count"], 20);
  EXPECT_NE(found.text.find("LMDB, 3 databases"), std::string::npos) << found.text;
}

TEST_F(InspectLmdbTest, WhereTheMainOneHasNoValuesTheOthersAreCountedTogether) {
  LmdbBuilder builder;
  const std::string train = builder.Add(LmdbNodes(20)), eval = builder.Add(LmdbNodes(5));
  const std::string path =
      Write(builder.File(builder.Add({{"eval", eval, 2}, {"train", train, 2}})));
  STOKER_ASSERT_OK_AND_ASSIGN(const Inspection found, InspectFile(path));
  EXPECT_EQ(found.json["count"], 25);
  EXPECT_TRUE(found.json["fields"]["value"].contains("largest"));
}

TEST_F(InspectLmdbTest, DamageInADatabaseWithANameIsFoundAndTheOthersAreTold) {
  LmdbBuilder builder;
  const std::string train = builder.Add(LmdbNodes(200)), eval = builder.Add(LmdbNodes(5));
  std::string file = builder.File(builder.Add({{"eval", eval, 2}, {"train", train, 2}}));
  // The first page of the first large value.
  file.replace(2 * LmdbBuilder::kPage, LmdbBuilder::kPage, LmdbBuilder::kPage, '\0');
  const std::string path = Write(file);
  STOKER_ASSERT_OK_AND_ASSIGN(const Inspection found, InspectFile(path));
  EXPECT_THAT(found.damage, FailsWith(StatusCode::kDataLoss, "while reading database 'train'"));
  EXPECT_EQ(found.json["databases"]["eval"]["count"], 5);
  EXPECT_TRUE(VerifyFile(path).damaged());
}

TEST_F(InspectLmdbTest, ADatabaseOfAKindThatIsNotReadIsNotCalledDamaged) {
  LmdbBuilder builder;
  const std::string several = builder.Add(LmdbNodes(1), /*flags=*/4),
                    eval = builder.Add(LmdbNodes(5));
  const std::string path =
      Write(builder.File(builder.Add({{"eval", eval, 2}, {"sev", several, 2}})));
  const Verification found = VerifyFile(path);
  EXPECT_FALSE(found.damaged());
  EXPECT_NE(found.unchecked.find("several values a key"), std::string::npos) << found.unchecked;
}

}  // namespace stoker::lmdb_test
