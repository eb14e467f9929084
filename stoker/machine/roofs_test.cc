#include "stoker/machine/roofs.h"

#include <cstdlib>
#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::roofs_test {

using testing::ElementsAre;

Roofs SomeRoofs(const std::string& path) {
  Roofs roofs;
  roofs.host = "desk";
  roofs.cpus = 8;
  roofs.measured_at = "2024-01-31T23:59:59Z";
  roofs.storage = {{.path = path, .type = "ext4", .how = "O_DIRECT", .read_bytes_per_s = 5e8}};
  roofs.storage[0].problem = "no small files";
  roofs.memory = MemoryRoofs{1e10, 2e10, 3e10};
  roofs.decode_together = DecodeRoofs{5000.5};
  roofs.copies = {{.device = "cuda:0", .pinned_bytes_per_s = 2e10, .pageable_bytes_per_s = 9e9}};
  roofs.all_reduce = AllReduceRoofs{.processes = 2, .small_s = 4e-4, .bytes_per_s = 1.5e9};
  return roofs;
}

TEST(Roofs, AreReadBackAsTheyWereSaved) {
  const TempDir folder;
  const std::string path = folder / "new/folder/machine.json";
  STOKER_ASSERT_OK(SaveRoofs(SomeRoofs("/data"), path));
  STOKER_ASSERT_OK_AND_ASSIGN(const Roofs read, LoadRoofs(path));
  EXPECT_EQ(read.ToJson(), SomeRoofs("/data").ToJson());
  EXPECT_EQ(read.ToJson()["schema"], 1);
  EXPECT_FALSE(read.storage[0].random_reads_per_s.has_value());
  EXPECT_FALSE(read.decode.has_value());
}

TEST(Roofs, OfOtherPathsOfTheSameHostAreKept) {
  const TempDir folder;
  const std::string path = folder / "machine.json";
  STOKER_ASSERT_OK(SaveRoofs(SomeRoofs("/a"), path));
  STOKER_ASSERT_OK(SaveRoofs(SomeRoofs("/b"), path));
  Roofs again = SomeRoofs("/a");
  again.storage[0].read_bytes_per_s = 7;
  STOKER_ASSERT_OK(SaveRoofs(again, path));
  STOKER_ASSERT_OK_AND_ASSIGN(Roofs read, LoadRoofs(path));
  ASSERT_EQ(read.storage.size(), 2u);
  EXPECT_EQ(read.storage[0].read_bytes_per_s, 7);
  EXPECT_EQ(read.storage[1].path, "/b");
  again.host = "another";
  STOKER_ASSERT_OK(SaveRoofs(again, path));
  STOKER_ASSERT_OK_AND_ASSIGN(read, LoadRoofs(path));
  EXPECT_EQ(read.storage.size(), 1u);
}

TEST(Roofs, OfAFileThatIsNoneSayWhatIsWrongAndWhatToDo) {
  const TempDir folder;
  const std::string path = folder / "machine.json";
  EXPECT_THAT(LoadRoofs(path), FailsWith(StatusCode::kNotFound, path));
  const Json good = SomeRoofs("/a").ToJson();
  const auto with = [&](const char* key, const Json& value) {
    Json json = good;
    json[key] = value;
    std::ofstream(path) << json.dump();
    return LoadRoofs(path);
  };
  STOKER_EXPECT_OK(with("host", "x"));
  EXPECT_THAT(with("schema", 2), FailsWith(StatusCode::kUnimplemented, "has schema 2"));
  EXPECT_THAT(with("host", 3), FailsWith(StatusCode::kDataLoss, "\"host\" of the roofs is number"));
  EXPECT_THAT(with("cpus", -1), FailsWith(StatusCode::kDataLoss, "\"cpus\""));
  EXPECT_THAT(with("cpus", nullptr), FailsWith(StatusCode::kDataLoss, "\"cpus\""));
  EXPECT_THAT(with("storage", {1, 2}), FailsWith(StatusCode::kDataLoss, "list of objects"));
  EXPECT_THAT(with("memory", {{"read_bytes_per_s", 1}}),
              FailsWith(StatusCode::kDataLoss, "\"write_bytes_per_s\" of memory"));
  EXPECT_THAT(with("decode", "fast"),
              FailsWith(StatusCode::kDataLoss, "`stoker env` makes it again"));
  for (const char* text : {"", "{", "[]", "null"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(LoadRoofs(path).ok()) << text;
  }
  // What is damaged is replaced.
  STOKER_EXPECT_OK(SaveRoofs(SomeRoofs("/a"), path));
  STOKER_EXPECT_OK(LoadRoofs(path));
}

TEST(Roofs, OfAFileThatIsNestedWithoutEndAreAnError) {
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {deep, R"({"schema": )" + deep, R"({"schema": 1, "host": )" + deep,
        R"({"schema": 1, "x": )" + deep + std::string(deep.size(), ']') + "}"})
    EXPECT_FALSE(ParseRoofs(text).ok());
  EXPECT_THAT(ParseRoofs(R"({"schema": )" + deep + std::string(deep.size(), ']') + "}"),
              FailsWith(StatusCode::kDataLoss, "more than 32 levels"));
}

TEST(Roofs, OfALongSchemaAreRefusedInAShortLine) {
  const Result<Roofs> roofs = ParseRoofs(R"({"schema": ")" + std::string(100'000, 'a') + R"("})");
  ASSERT_FALSE(roofs.ok());
  EXPECT_LT(roofs.status().message().size(), 300u);
}

TEST(Roofs, OfNumbersBeyondAllAreReadWithoutOverflow) {
  Json json = SomeRoofs("/a").ToJson();
  json["cpus"] = 1e300;
  STOKER_ASSERT_OK_AND_ASSIGN(const Roofs roofs, Roofs::FromJson(json));
  EXPECT_EQ(roofs.cpus, 1'000'000);
}

}  // namespace stoker::roofs_test
