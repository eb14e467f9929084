// Pipelines as options of zip, concatenate, mix, choose and interleave.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"

namespace stoker {

// Some pipelines. In C++: `.inputs = {a, b}`, Datasets or Results of making some. In a recipe: a
// list of pipelines, each a list that begins with a source:
//   zip: [[idx: {images: a.gz}], [lines: names.txt, take: 100]]
class Pipelines {
 public:
  static constexpr std::string_view kTypeName = "list of pipelines";

  Pipelines() = default;
  Pipelines(std::initializer_list<Result<Dataset>> made) : made_(made) {}
  explicit Pipelines(const std::vector<Dataset>& made) : made_(made.begin(), made.end()) {}

  bool empty() const { return made_.empty() && recipes_.items.empty(); }

  // Returns the datasets, at least one; `who` begins the messages. Errors: there are none; the
  // error of the first that could not be made, with its number and, from a recipe, line and column.
  Result<std::vector<Dataset>> Build(std::string_view who) const;

  // See OptionObject. Checks operators and options; Build makes the datasets.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const { return filled_; }
  void Resolve(const std::filesystem::path& root) { root_ = root; }

 private:
  std::vector<Result<Dataset>> made_;  // in C++
  ConfigNode recipes_ = ConfigNode::List({}), filled_ = ConfigNode::List({});
  std::filesystem::path root_;
};

// One pipeline, or none. In C++ a Dataset or the Result of making one; in a recipe a list that
// begins with a source, or the empty list:
//   choose: {inputs: [...], choices: [range: 100, ...]}
class OptionalPipeline {
 public:
  static constexpr std::string_view kTypeName = "pipeline";

  OptionalPipeline() = default;
  OptionalPipeline(Dataset made)
      : pipelines_({std::move(made)}), given_(true) {}  // NOLINT: implicit
  OptionalPipeline(Result<Dataset> made)                // NOLINT: implicit by design
      : pipelines_({std::move(made)}), given_(true) {}

  explicit operator bool() const { return given_; }
  // Builds the pipeline. REQUIRES: one is given. Errors: those of Pipelines::Build.
  Result<Dataset> Build(std::string_view who) const;

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const;
  void Resolve(const std::filesystem::path& root) { pipelines_.Resolve(root); }

 private:
  Pipelines pipelines_;
  bool given_ = false;
};

// A pipeline for each of many files. In C++ a function of the path. In a recipe a pipeline whose
// source omits its file, which is its first option:
//   interleave: {files: "logs/*.txt", pipeline: [lines: {skip: 1}, take: 1000]}
// The empty list means none.
class PipelinePerFile {
 public:
  static constexpr std::string_view kTypeName = "pipeline";
  using Make = std::function<Result<Dataset>(const std::string& path)>;

  PipelinePerFile() = default;
  PipelinePerFile(Make make) : make_(std::move(make)) {}  // NOLINT: implicit by design

  explicit operator bool() const { return make_ != nullptr || !recipe_.items.empty(); }
  // Builds the pipeline of one file. Thread-safe.
  Result<Dataset> Build(const std::string& path) const;

  // See OptionObject.
  Status Read(const ConfigNode& node);
  ConfigNode Write() const { return filled_; }
  void Resolve(const std::filesystem::path& root) { root_ = root; }

 private:
  Make make_;
  std::string path_option_;  // of the source
  ConfigNode recipe_ = ConfigNode::List({}), filled_ = ConfigNode::List({});
  std::filesystem::path root_;
};

}  // namespace stoker
