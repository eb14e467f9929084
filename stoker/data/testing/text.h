// Pipelines over lines of text, for tests of what makes numbers of them.
#pragma once

#include <string>
#include <vector>

#include "stoker/data/ops/zip.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

class TextTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, text), IsOk());
    return dir_ / name;
  }
  // Returns the lines of a file of this name and content, as field `field`.
  Result<Dataset> LinesOf(const std::string& name, const std::string& text,
                          const std::string& field = "text") const {
    return Source(Lines{.path = Write(name, text), .field = field});
  }

  // Returns the numbers of every element's field `field`.
  static std::vector<std::vector<int32_t>> TokensOf(const Result<Dataset>& dataset,
                                                    size_t field = 0) {
    std::vector<std::vector<int32_t>> all;
    EXPECT_THAT(dataset, IsOk());
    if (!dataset.ok()) return all;
    const Result<std::vector<Element>> elements = ReadAll(*dataset, Runtime::Inline());
    EXPECT_THAT(elements, IsOk());
    if (!elements.ok()) return all;
    for (const Element& element : *elements) {
      const auto values = element.arrays[field].values<int32_t>();
      all.emplace_back(values.begin(), values.end());
    }
    return all;
  }

  const TempDir dir_;
};

using Tokens = std::vector<int32_t>;

}  // namespace stoker
