// Members of JSON lines as arrays, beside nlohmann-json, which makes a tree of each line.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/formats/jsonl/json_row_parser.h"

namespace stoker {
namespace {

constexpr int64_t kNumbers = 64;

// Lines as of an embedding with a text and members that are not wanted.
const std::vector<std::string>& Lines() {
  static const std::vector<std::string> lines = [] {
    std::mt19937 random(1);
    std::vector<std::string> all;
    for (int i = 0; i < 1000; ++i) {
      Json line = {{"id", i},
                   {"text", std::string(100 + random() % 100, 'w') + "\n\"quoted\""},
                   {"meta", {{"url", "http://localhost/some/path"}, {"tags", {"a", "b", "c"}}}}};
      for (int64_t n = 0; n < kNumbers; ++n)
        line["vector"].push_back(static_cast<float>(random() % 100'000) / 50'000 - 1);
      all.push_back(line.dump());
    }
    return all;
  }();
  return lines;
}

struct Target {
  int64_t id = 0;
  std::vector<float> vector = std::vector<float>(kNumbers);
  std::string text;
  bool operator==(const Target&) const = default;
};

void ParseByTree(const std::string& line, Target& out) {
  const Json tree = Json::parse(line);
  out.id = tree["id"].get<int64_t>();
  out.text = tree["text"].get<std::string>();
  for (size_t n = 0; n < out.vector.size(); ++n) out.vector[n] = tree["vector"][n].get<float>();
}

void BM_Tree(benchmark::State& state) {
  Target target;
  int64_t bytes = 0;
  for (auto _ : state) {
    for (const std::string& line : Lines()) {
      ParseByTree(line, target);
      bytes += std::ssize(line);
    }
  }
  state.SetBytesProcessed(bytes);
}
BENCHMARK(BM_Tree);

void BM_RowParser(benchmark::State& state) {
  const JsonRowParser parser =
      *JsonRowParser::Make({{.path = "id", .dtype = DType::kInt64},
                            {.path = "vector", .shape = {kNumbers}},
                            {.path = "text", .kind = JsonMember::Kind::kText}});
  Target target, wanted;
  std::vector<std::string> loose(3);
  std::byte* const memory[3] = {reinterpret_cast<std::byte*>(&target.id),
                                reinterpret_cast<std::byte*>(target.vector.data()), nullptr};
  int64_t bytes = 0;
  for (auto _ : state) {
    for (const std::string& line : Lines()) {
      if (!parser.Parse(line, memory, loose).ok()) return state.SkipWithError("no good line");
      bytes += std::ssize(line);
    }
  }
  target.text = loose[2];
  ParseByTree(Lines().back(), wanted);
  if (!(target == wanted)) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(bytes);
}
BENCHMARK(BM_RowParser);

}  // namespace
}  // namespace stoker
