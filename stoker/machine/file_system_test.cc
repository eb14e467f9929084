#include "stoker/machine/file_system.h"

#include "stoker/base/testing.h"

namespace stoker::file_system_test {

constexpr std::string_view kMounts =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "30 22 0:25 / /data rw - nfs4 server:/export rw\n"
    "31 30 0:26 / /data/fast rw - xfs /dev/nvme0n1 rw\n"
    "32 22 0:27 / /with\\040space rw shared:5 master:3 - fuse.sshfs me@there: rw\n"
    "33 22 0:28 / /over rw - ext4 /dev/a rw\n"
    "34 22 0:29 / /over rw - tmpfs none rw\n";

TEST(MountedType, IsThatOfTheLongestMountPointAboveThePath) {
  EXPECT_EQ(MountedType("/home/me", kMounts), "ext4");
  EXPECT_EQ(MountedType("/data", kMounts), "nfs4");
  EXPECT_EQ(MountedType("/data/train.tar", kMounts), "nfs4");
  EXPECT_EQ(MountedType("/data/fast/train.tar", kMounts), "xfs");
  EXPECT_EQ(MountedType("/database", kMounts), "ext4");
}

TEST(MountedType, ReadsSpacesInNamesAndTheMountThatHidesAnother) {
  EXPECT_EQ(MountedType("/with space/a", kMounts), "fuse.sshfs");
  EXPECT_EQ(MountedType("/over/a", kMounts), "tmpfs");
}

TEST(MountedType, IsEmptyForTextThatIsNoMountinfo) {
  for (const char* text :
       {"", "\n", "1 2 3", "1 2 3 / / rw", "1 2 3 / / rw -", "- - - - - -", "1 2 3 / / - "})
    EXPECT_EQ(MountedType("/a", text), "") << text;
}

TEST(DescribeFileSystem, OfAPathThatIsNotThereIsEmpty) {
  const FileSystemFacts facts = DescribeFileSystem("/nowhere/at/all");
  EXPECT_EQ(facts.path, "/nowhere/at/all");
  EXPECT_EQ(facts.type, "");
  EXPECT_FALSE(facts.free_bytes.has_value());
}

TEST(DescribeFileSystem, KnowsThatFilesOfANetworkAreElsewhere) {
  const TempDir folder;
  const std::string here = std::filesystem::canonical(folder.path()).string();
  const auto with = [&](std::string_view type) {
    return DescribeFileSystem(here, fmt::format("1 1 0:1 / {} rw - {} x rw\n", here, type));
  };
  for (const char* type : {"nfs4", "cifs", "lustre", "fuse.sshfs", "fuse.gcsfuse", "virtiofs"})
    EXPECT_TRUE(with(type).remote) << type;
  EXPECT_FALSE(with("ext4").remote);
  EXPECT_FALSE(with("fuse.ntfs-3g").remote);
  EXPECT_TRUE(with("tmpfs").in_memory);
  EXPECT_GT(with("ext4").free_bytes.value_or(0), 0);
}

}  // namespace stoker::file_system_test
