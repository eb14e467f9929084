#include "stoker/data/core/class_names.h"

#include "stoker/base/testing.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/folder.h"
#include "stoker/data/testing/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::class_names_test {

using testing::ElementsAre;
using testing::IsEmpty;

class ClassNamesTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (dir_.path() / name).string(); }
  const TempDir dir_;
};

TEST_F(ClassNamesTest, ShardsOfOneSetShareTheFileBesideThem) {
  EXPECT_EQ(ClassNamesFileOf("d/x.tfrecord"), "d/x.tfrecord.classes.txt");
  EXPECT_EQ(ClassNamesFileOf("d/x-00003-of-00128.tfrecord"), "d/x.tfrecord.classes.txt");
  EXPECT_EQ(ClassNamesFileOf("arrays-00000-of-00002"), "arrays.classes.txt");
  STOKER_ASSERT_OK(WriteClassNames(Path("x.tfrecord.classes.txt"), {"cat", "big dog"}));
  EXPECT_THAT(*ReadClassNamesBeside({Path("x-00000-of-00002.tfrecord"), Path("y.tfrecord"),
                                     Path("x-00001-of-00002.tfrecord")}),
              ElementsAre("cat", "big dog"));
  EXPECT_THAT(*ReadClassNamesBeside({Path("y.tfrecord")}), IsEmpty());
}

TEST_F(ClassNamesTest, FilesThatDisagreeAreNamedWithTheFirstDifference) {
  STOKER_ASSERT_OK(WriteClassNames(Path("a.classes.txt"), {"cat", "dog"}));
  STOKER_ASSERT_OK(WriteClassNames(Path("b.classes.txt"), {"cat", "dog", "owl"}));
  EXPECT_THAT(ReadClassNamesBeside({Path("a"), Path("b")}),
              FailsWith(StatusCode::kInvalidArgument, "number 2 is nothing there and 'owl' here"));
}

TEST_F(ClassNamesTest, WhatIsNoNameOnALineOfItsOwnIsRefused) {
  for (const char* name : {"", "a\nb", "a\r"}) {
    EXPECT_THAT(WriteClassNames(Path("a.classes.txt"), {"cat", name}),
                FailsWith(StatusCode::kInvalidArgument, "class 1 is called"));
  }
  STOKER_ASSERT_OK(WriteFileAtomically(Path("a.classes.txt"), "cat\n\ndog\n"));
  EXPECT_THAT(ReadClassNamesBeside({Path("a")}),
              FailsWith(StatusCode::kDataLoss, "a.classes.txt: line 2 is empty"));
  STOKER_ASSERT_OK(WriteFileAtomically(Path("a.classes.txt"), "cat\r\ndog"));
  EXPECT_THAT(*ReadClassNamesBeside({Path("a")}), ElementsAre("cat", "dog"));
}

}  // namespace stoker::class_names_test
