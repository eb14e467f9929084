#include "stoker/base/named_kind.h"

#include "stoker/base/testing.h"

namespace stoker::named_kind_test {

TEST(NamedKind, IsTheNameOrTheKeyWhereverThePolicyStands) {
  const std::pair<const char*, std::string_view> cases[] = {
      {"shuffle", "shuffle"},
      {"{batch: 3}", "batch"},
      {"{decode: {}, on_error: skip}", "decode"},
      {"{on_error: skip, decode: {}}", "decode"},
      {"{on_error: skip}", ""},
      {"{}", ""},
      {"[batch]", ""},
      {"", ""},
  };
  for (const auto& [yaml, name] : cases) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode entry, ParseYaml(yaml, "r.yaml"));
    EXPECT_EQ(NamedKind(entry), name) << yaml;
  }
}

}  // namespace stoker::named_kind_test
