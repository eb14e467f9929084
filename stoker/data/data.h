// The input pipeline's whole public interface. What trains with libtorch stands in
// stoker/train/trainer.h.
#pragma once

#include "stoker/data/dataset.h"
#include "stoker/data/from_arrays.h"
#include "stoker/data/from_generator.h"
#include "stoker/data/iterator.h"
#include "stoker/data/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/skip.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/recipe.h"
#include "stoker/data/registry.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sources/idx.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/data/transforms/random_crop.h"
#include "stoker/data/transforms/random_flip.h"
