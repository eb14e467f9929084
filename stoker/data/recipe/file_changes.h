// Compares the marks of a pipeline's files (file_marks.h) with earlier ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

struct FileChanges {
  std::vector<std::string> changed;  // "train-labels has other content, in 108 bytes as before"
  std::vector<std::string> touched;  // large files written since, with unchanged marks
};

// Returns the differences between two marks of one pipeline; none if it has other sources now, or
// `before` is not from MarkFiles. Compares whole contents if both have them. Names at most five
// files of each kind and counts the others.
FileChanges CompareFiles(const Json& before, const Json& now);

// Returns whether the marks of one pipeline include a full check.
bool HaveFullCheck(const Json& marks);

// Copies the checksums of the whole content from `before` to `now`, for unchanged files.
void KeepFullCheck(const Json& before, Json& now);

// Returns the first stage in `now` that was made from another file than a run was trained with, as
// "words: vocabulary.txt": a model knows only the numbers that the words had in training. A file of
// another name passes if its content was trained with, and so does a stage of a kind that `trained`
// does not mark.
//   trained  marks of each of the run's pipelines, as one object
//   now      of MarkStageFiles
std::optional<std::string> FindOtherStageFile(const Json& trained, const Json& now);

}  // namespace stoker
