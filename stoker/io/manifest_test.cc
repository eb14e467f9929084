#include "stoker/io/manifest.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::manifest_test {

namespace fs = std::filesystem;

// A directory with the files a and b, and a manifest of both.
class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    Write("a", "first");
    Write("b", std::string(3 << 20, 'b'));  // read in several pieces
    EXPECT_THAT(Manifest::Write(dir_.path().string(), std::vector<std::string_view>{"b", "a"}),
                IsOk());
  }

  void Write(const std::string& name, const std::string& text) const {
    STOKER_EXPECT_OK(WriteFileAtomically(PathOf(name), text));
  }
  std::string PathOf(const std::string& name) const { return dir_ / name; }
  Status CheckAll() const {
    STOKER_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(dir_.path().string()));
    return manifest.CheckAll();
  }

  TempDir dir_;
};

TEST_F(ManifestTest, ListsFilesAndGivesTheirBytesBack) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Manifest manifest, Manifest::Read(dir_.path().string()));
  EXPECT_THAT(manifest.names(), testing::ElementsAre("a", "b"));
  STOKER_EXPECT_OK(manifest.CheckAll());
  STOKER_ASSERT_OK_AND_ASSIGN(const Buffer bytes, manifest.ReadFile("a"));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "first");
}

TEST_F(ManifestTest, FindsAChangeOfAnyFileAndOfItself) {
  for (const char* name : {"a", "b", kManifestName}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(PathOf(name)));
    std::string changed = good;
    changed[changed.size() / 2] ^= 1;
    for (const std::string& bad : {changed, good + "x", good.substr(1)}) {
      Write(name, bad);
      EXPECT_THAT(CheckAll(), FailsWith(StatusCode::kDataLoss, PathOf(name))) << name;
    }
    fs::remove(PathOf(name));
    EXPECT_THAT(CheckAll(), FailsWith(StatusCode::kDataLoss, "is missing"));
    Write(name, good);
  }
  STOKER_EXPECT_OK(CheckAll());
}

TEST_F(ManifestTest, RefusesAFileThatItDoesNotList) {
  Write("c", "");
  STOKER_ASSERT_OK_AND_ASSIGN(const Manifest manifest, Manifest::Read(dir_.path().string()));
  EXPECT_THAT(manifest.Check("c"), FailsWith(StatusCode::kDataLoss, "does not give its size"));
}

// A link to itself cannot be followed, which says nothing about what stood there.
TEST_F(ManifestTest, WhatCannotBeReadIsNotCalledDamaged) {
  for (const char* name : {"a", kManifestName}) {
    fs::rename(PathOf(name), PathOf("kept"));
    fs::create_symlink(name, PathOf(name));
    const Status status = CheckAll();
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.code(), StatusCode::kDataLoss) << status.ToString();
    fs::remove(PathOf(name));
    fs::rename(PathOf("kept"), PathOf(name));
  }
  STOKER_EXPECT_OK(CheckAll());
}

}  // namespace stoker::manifest_test
