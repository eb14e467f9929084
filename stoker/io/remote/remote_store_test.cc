#include "stoker/io/remote/remote_store.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <vector>

#include "stoker/base/remote_path.h"
#include "stoker/base/testing.h"
#include "stoker/io/remote/remote_names.h"
#include "stoker/io/remote/remote_stores_internal.h"

namespace stoker::remote_store_test {

TEST(RemoteStore, EverySchemeOfPathsOnServersHasItsRowInTheTable) {
  std::vector<std::string_view> schemes(std::begin(kRemoteSchemes), std::end(kRemoteSchemes));
  std::vector<std::string_view> rows;
  for (const internal::RemoteStoreRow& row : internal::kRemoteStores) rows.push_back(row.scheme);
  EXPECT_EQ(rows, schemes);
}

TEST(RemoteStore, EveryRowLocatesItsOwnPathsAndNoOthers) {
  for (const internal::RemoteStoreRow& row : internal::kRemoteStores) {
    const std::string path = std::string(row.scheme) + "name/a/b.tar";
    EXPECT_EQ(FindRemoteStore(path), &row.store()) << path;
    STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation location, ParseRemotePath(path));
    EXPECT_EQ(location.store, &row.store()) << path;
    EXPECT_EQ(location.name, path);
    if (row.store().lists()) {
      EXPECT_EQ(location.root + location.key, path);
    }
    EXPECT_EQ(HasRemoteLists(path), row.store().lists()) << path;
    std::string in_capitals = path;
    std::transform(row.scheme.begin(), row.scheme.end(), in_capitals.begin(), ::toupper);
    STOKER_ASSERT_OK_AND_ASSIGN(const RemoteLocation same, ParseRemotePath(in_capitals));
    EXPECT_EQ(same.name, path);
    // A path without a name is refused where it is read, before a server is asked.
    EXPECT_THAT(ParseRemotePath(std::string(row.scheme)),
                FailsWith(StatusCode::kInvalidArgument, std::string(row.scheme)));
  }
  for (const char* path : {"/a/b", "ftp://host/a", "s3:/a", "-", ""})
    EXPECT_EQ(FindRemoteStore(path), nullptr) << path;
}

TEST(RemoteStore, APathOfNoStoreIsRefusedWithTheSchemesThereAre) {
  EXPECT_THAT(ParseRemotePath("ftp://host/a"),
              FailsWith(StatusCode::kInvalidArgument, "one begins with " + RemoteSchemesText()));
}

}  // namespace stoker::remote_store_test
