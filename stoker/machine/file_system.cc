#include "stoker/machine/file_system.h"

#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <vector>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct KnownType {
  uint32_t magic;  // of statfs(2)
  std::string_view name;
  bool remote;
};

// The numbers are those of statfs(2) and linux/magic.h.
constexpr KnownType kTypes[] = {
    {0x00006969, "nfs", true},      {0x0000517b, "smb", true},    {0xfe534d42, "smb2", true},
    {0xff534d42, "cifs", true},     {0x00c36400, "ceph", true},   {0x0bd00bd0, "lustre", true},
    {0x47504653, "gpfs", true},     {0x19830326, "beegfs", true}, {0x5346414f, "afs", true},
    {0x01021997, "9p", true},       {0x73757245, "coda", true},   {0x65735546, "fuse", false},
    {0x01021994, "tmpfs", false},   {0x858458f6, "ramfs", false}, {0x0000ef53, "ext4", false},
    {0x58465342, "xfs", false},     {0x9123683e, "btrfs", false}, {0x2fc12fc1, "zfs", false},
    {0x794c7630, "overlay", false}, {0xf2f52010, "f2fs", false},  {0x00004d44, "vfat", false},
    {0x2011bab0, "exfat", false},
};

// By the name in mountinfo: FUSE has one number in statfs(2), whatever is behind it.
constexpr std::string_view kRemoteNames[] = {"nfs",
                                             "nfs4",
                                             "cifs",
                                             "smb3",
                                             "ceph",
                                             "lustre",
                                             "gpfs",
                                             "beegfs",
                                             "afs",
                                             "9p",
                                             "virtiofs",
                                             "fuse.sshfs",
                                             "fuse.s3fs",
                                             "fuse.gcsfuse",
                                             "fuse.rclone",
                                             "fuse.goofys",
                                             "fuse.mount-s3",
                                             "fuse.juicefs",
                                             "fuse.glusterfs",
                                             "fuse.ceph",
                                             "fuse.lizardfs",
                                             "fuse.mfs",
                                             "fuse.blobfuse",
                                             "fuse.blobfuse2",
                                             "fuse.davfs",
                                             "fuse.curlftpfs"};

// mountinfo writes a space, a tab, a line break and a backslash as a backslash and three octal
// digits.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = Trimmed(line)).empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

bool IsWithin(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] = std::ranges::mismatch(folder, path);
  return in_folder == folder.end();
}

}  // namespace

// proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": the fifth word is the
// mount point, the one after the dash the type.
std::string MountedType(const fs::path& path, std::string_view mounts) {
  std::string type;
  size_t longest = 0;
  for (const std::string_view line : SplitLines(mounts)) {
    const std::vector<std::string_view> words = Words(line);
    if (words.size() < 5) continue;
    const auto dash = std::find(words.begin() + 5, words.end(), "-");
    if (dash == words.end() || dash + 1 == words.end()) continue;
    const std::string point = Unescaped(words[4]);
    if (point.size() < longest || !IsWithin(path, point)) continue;
    longest = point.size();
    type = *(dash + 1);
  }
  return type;
}

FileSystemFacts DescribeFileSystem(const std::string& path, std::string_view mounts) {
  FileSystemFacts facts{.path = path};
  struct statfs found = {};
  if (::statfs(path.c_str(), &found) != 0) return facts;
  const auto known =
      std::ranges::find(kTypes, static_cast<uint32_t>(found.f_type), &KnownType::magic);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (!error) facts.type = MountedType(real, mounts);
  if (known != std::end(kTypes)) {
    facts.remote = known->remote;
    if (facts.type.empty()) facts.type = known->name;
  }
  facts.remote =
      facts.remote || std::ranges::find(kRemoteNames, facts.type) != std::end(kRemoteNames);
  facts.in_memory = facts.type == "tmpfs" || facts.type == "ramfs";
  struct statvfs space = {};
  if (::statvfs(path.c_str(), &space) == 0)
    facts.free_bytes = static_cast<int64_t>(space.f_bavail * space.f_frsize);
  return facts;
}

FileSystemFacts DescribeFileSystem(const std::string& path) {
  return DescribeFileSystem(path, ReadSmallText("/proc/self/mountinfo"));
}

}  // namespace stoker
