// The keys `source`, `split` and `features` of a recipe's section `data`, which its two pipelines
// have in common.
#pragma once

#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns the pipeline `name`, train or eval, whole: the stages of data.source, `split` for that
// side if there is data.split, those of data.features (feature_columns.h), then the list data.NAME.
// Each entry has the place where it was written. Works for a section as written and as filled in.
// Nothing if the section has no such pipeline. What is no list is returned as it is. REQUIRES:
// CheckShared succeeded, or the result is built, which reports what is wrong.
std::optional<ConfigNode> WholePipeline(const ConfigNode& data, std::string_view name);

// Checks these keys, which both pipelines have in common: that they are a list and options, that
// nothing is split without a source, and that no pipeline has another one. Does not read the
// options of stages.
Status CheckShared(const ConfigNode& data);

// Puts the pipelines in `train` and `eval` (null if there is none), each made of WholePipeline with
// every option filled in, into `filled` again as the keys source, split, train and eval of `data`,
// as far as that has them. Features are then stages of train and eval.
void AddFilledPipelines(const ConfigNode& data, ConfigNode train, ConfigNode eval,
                        ConfigNode& filled);

}  // namespace stoker
