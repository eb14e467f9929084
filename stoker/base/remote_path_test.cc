#include "stoker/base/remote_path.h"

#include "stoker/base/testing.h"

namespace stoker::remote_path_test {

TEST(WithoutSecrets, LeavesOutPasswordsAndQueriesWhereverAnAddressStands) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", ""},
      {"no address: a?b=c@d", "no address: a?b=c@d"},
      {"http://h/a.csv", "http://h/a.csv"},
      {"https://h/a.csv?sig=s", "https://h/a.csv?..."},
      {"https://u:p@h:80/a", "https://h:80/a"},
      {"https://u:p@h", "https://h"},
      {"https://h?sig=s", "https://h?..."},
      {"https://h/a@b?sig=s@t", "https://h/a@b?..."},
      {"https://h/a?sig=s: byte 0: HTTP 404", "https://h/a?...: byte 0: HTTP 404"},
      {"(https://h/a?sig=s), and http://g/?t=1.", "(https://h/a?...), and http://g/?...."},
      {"{\"file\":\"https://h/a?s=1\",\"x\":\"?y\"}",
       "{\"file\":\"https://h/a?...\",\"x\":\"?y\"}"},
      {"files: 'http://h/{0..9}?s=1'", "files: 'http://h/{0..9}?...'"},
      {"{path: http://h/a?s=1}", "{path: http://h/a?...}"},
      {"a\nhttp://h/?s=1\nb?c\n", "a\nhttp://h/?...\nb?c\n"},
      {"s3://bucket/a?b", "s3://bucket/a?b"},
      {"s3://KEY:SECRET@bucket/a?b", "s3://bucket/a?b"},
      {"gs://KEY:SEC/RET@bucket/a", "gs://bucket/a"},
      {"s3://bucket/a:b@c", "s3://bucket/a:b@c"},
      {"webhdfs://me:SECRET@host:9870/a", "webhdfs://host:9870/a"},
      {"swebhdfs://h/a?delegation=SECRET, b", "swebhdfs://h/a?..., b"},
      {"webhdfs://h/a?op=OPEN&Delegation=SECRET", "webhdfs://h/a?..."},
      {"webhdfs://h/a?x=1&token=SECRET", "webhdfs://h/a?..."},
      {"webhdfs://h/part-?.csv: byte 1", "webhdfs://h/part-?.csv: byte 1"},
      {"HTTPS://u:p@h/a?sig=s", "HTTPS://h/a?..."},
      {"S3://KEY:SECRET@bucket/a", "S3://bucket/a"},
      {"ftp://me:pw@h/a", "ftp://me:pw@h/a"},
      {"http://", "http://"},
      {"x://h/a?b http://h/a?", "x://h/a?b http://h/a?..."}};
  for (const auto& [text, shown] : kCases) {
    EXPECT_EQ(WithoutSecrets(text), shown);
    EXPECT_EQ(WithoutSecrets(WithoutSecrets(text)), shown) << "twice is as once";
  }
}

}  // namespace stoker::remote_path_test
