// Tensors for TensorBoard: the first batch as a grid of pictures, confusion matrices, weights and
// gradients as histograms.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/formats/tensorboard/summary.h"
#include "stoker/run/recipe.h"
#include "stoker/run/tensorboard_log.h"
#include "stoker/train/core/callback.h"
#include "stoker/train/core/model.h"

namespace stoker {

// Adds the pictures of a batch, up to 64 in rows of 8, with values scaled to the range of the
// batch: an image called `tag`. Adds nothing if they are not pictures, that is, not float
// [samples, 1 or 3, height, width] of at least 2 x 2. Copies them from the device.
Status AddPictures(std::string_view tag, const at::Tensor& input, Summary& summary);

// Adds a confusion matrix (MetricSet's "confusion") as an image "eval/confusion": row i, column j
// is darker the more samples of class i were predicted as class j, from white (none) to black
// (all). The side has about 256 pixels, at least one a class. Adds nothing if `confusion` is
// malformed or has more than 2,048 classes.
Status AddConfusion(std::string_view tag, const Json& confusion, Summary& summary);

// Adds a histogram for each parameter, "weights/NAME", and for each that has a gradient,
// "gradients/NAME", its values divided by `gradient_scale`. Copies them from the device: about
// 30 ns a value.
Status AddHistograms(const Model& model, double gradient_scale, Summary& summary);

// Returns the callback that writes these into the run's log: pictures of its first batch and of
// each evaluation, histograms of every `options.histograms`th step and of the last, before the
// weights change. `log` is borrowed.
std::shared_ptr<Callback> TensorboardTensors(const TensorboardOptions& options,
                                             TensorboardLog& log);

}  // namespace stoker
