#include "stoker/data/options/kind_name.h"

#include "stoker/base/testing.h"

namespace stoker::kind_name_test {

TEST(KindName, IsRefusedIfRecipesCouldNotUseIt) {
  for (const char* name : {"", "Own", "own.net", "own net", "7th", "_own", "été"}) {
    EXPECT_THAT(CheckKindName("model", name, {}),
                FailsWith(StatusCode::kInvalidArgument, "a name is made of a-z"));
  }
  for (const char* name : {"loss", "accuracy", "top7"}) {
    EXPECT_THAT(CheckKindName("metric", name, {}),
                FailsWith(StatusCode::kInvalidArgument, "has another meaning in recipes"));
    STOKER_EXPECT_OK(CheckKindName("model", name, {}));
  }
}

}  // namespace stoker::kind_name_test
