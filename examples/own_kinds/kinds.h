// All kinds of this folder, for both ways of bringing them: a plug-in (plugin.cc) and a program
// (main.cc).
#pragma once

#include "callback.h"
#include "loss.h"
#include "metric.h"
#include "model.h"
#include "operators.h"
#include "optimizer.h"
#include "schedule.h"
#include "stoker/run/kinds.h"

namespace own {

inline void AddOwnKinds(stoker::Kinds& kinds) {
  kinds.Add<OwnNet>();
  kinds.Add<Margin>();
  kinds.Add<Sure>();
  kinds.Add<SignDescent>();
  kinds.Add<InverseRoot>();
  kinds.Add<WeightNorm>();
  kinds.Add<Stripes>();
  kinds.Add<Some>();
  kinds.Add<Invert>();
}

}  // namespace own
