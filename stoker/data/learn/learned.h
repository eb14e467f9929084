// What the stages of a recipe have learned from its training data, and the file that keeps it.
//
//   {"schema": 1,
//    "checksum": "sha256:...",         of all that follows
//    "from": {"samples": 43152, "stages": [...], "data": [...]},
//    "values": [{"stage": "normalize", "field": "x", "which": 1,
//                "options": {"mean": [...], "std": [...]}, "facts": {...}}]}
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// What one stage has learned.
struct LearnedValue {
  std::string stage;  // the operator: normalize
  std::string field;  // of which it learned
  int64_t which = 1;  // the first, second, ... such stage of the pipeline
  Json options;       // the options that it stands for: {"mean": [...], "std": [...]}
  Json facts;         // for people, such as how many values were missing

  // Returns "normalize of x", or "normalize of x (2)".
  std::string Name() const;
};

// Immutable once it is shared.
struct Learned {
  std::vector<LearnedValue> values;
  // {"samples": n, "stages": [...]}: how many samples were read, and the stages of data.train up to
  // the last one that learned, each as a line of YAML. A run adds "data": the marks of the files
  // (recipe/file_marks.h), or "file": where the values were taken from.
  Json from = Json::object();

  // Returns null if nothing was learned for such a stage.
  const LearnedValue* Find(std::string_view stage, std::string_view field, int64_t which) const;

  // Returns "sha256:..." of values and origin.
  std::string Checksum() const;
  // Returns the checksum of the values alone: what is computed with them depends on nothing else.
  std::string ChecksumOfValues() const;

  Json ToJson() const;
  // Errors: kDataLoss where the checksum is another one or something is missing; kUnimplemented for
  // a later schema.
  static Result<Learned> FromJson(const Json& json);
};

// Reads such a file. Errors name it: kNotFound, those of reading, kDataLoss.
Result<std::shared_ptr<const Learned>> ReadLearned(const std::string& path);

// Returns the names of the values that differ, each once: "normalize of x: mean[3] is 2, it was 1".
// At most `most` of them, then how many more.
std::vector<std::string> DifferencesOfLearned(const Learned& before, const Learned& now,
                                              size_t most = 5);

}  // namespace stoker
