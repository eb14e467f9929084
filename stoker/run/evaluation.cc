#include "stoker/run/evaluation.h"

namespace stoker {

Json Evaluation::ToJson() const {
  Json json = {{"samples", samples}, {"loss", loss}, {"seconds", seconds}};
  if (accuracy) json["accuracy"] = *accuracy;
  if (!metrics.is_null()) json["metrics"] = metrics;
  return json;
}

}  // namespace stoker
