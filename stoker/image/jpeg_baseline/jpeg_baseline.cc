#include "stoker/image/jpeg_baseline/jpeg_baseline.h"

#include <algorithm>
#include <new>
#include <type_traits>

#include "stoker/base/stop_counter.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"
#include "stoker/image/jpeg_baseline/frame.h"
#include "stoker/image/jpeg_baseline/region_plan.h"
#include "stoker/image/jpeg_baseline/strip.h"

namespace stoker {
namespace {

using namespace jpeg_baseline;  // NOLINT: this file is the namespace's front

// Everything of fixed size, in one piece of the scratch. Nothing in it needs a destructor.
struct Workspace {
  Frame frame;
  EntropyDecoder decoder;
  CoefficientBatch batch;
};
static_assert(std::is_trivially_destructible_v<Workspace>);

// Decodes the plan's columns of one row of MCUs. False if libjpeg should judge.
Result<bool> DecodeMcuRow(Workspace& work, const RegionPlan& plan, int mcu_row, Strip& strip) {
  const int columns = plan.mcu_columns.size();
  for (int column = 0; column < columns; column += kGroupBlocks) {
    const int count = std::min(kGroupBlocks, columns - column);
    STOKER_RETURN_IF_ERROR(work.decoder.Decode(count, work.batch));
    if (!strip.Put(work.batch, mcu_row, column)) return false;
  }
  return true;
}

// Called once the last row of MCUs has been decoded: checks the rest of it, and what follows.
Status CheckEnd(Workspace& work, const RegionPlan& plan) {
  STOKER_RETURN_IF_ERROR(work.decoder.Skip(work.frame.mcus_across() - plan.mcu_columns.end));
  return work.decoder.Finish();
}

Result<bool> DecodeRegion(std::string_view name, Workspace& work, const RegionPlan& plan,
                          const ImageInfo& info, const ImageRegion& region, const PixelRows& out,
                          DecodeScratch& scratch) {
  Strip strip(work.frame, plan, scratch);
  PixelWriter pixels(plan, work.frame.mcus_down(), region, info.channels, out, scratch);
  const int64_t mcus_across = work.frame.mcus_across();
  int64_t unwanted = plan.mcu_rows.begin * mcus_across + plan.mcu_columns.begin;
  StopCounter stop;
  for (int row = plan.mcu_rows.begin; row < plan.mcu_rows.end; ++row) {
    STOKER_RETURN_IF_ERROR(work.decoder.Skip(unwanted));
    unwanted = mcus_across - plan.mcu_columns.size();
    STOKER_ASSIGN_OR_RETURN(const bool plain, DecodeMcuRow(work, plan, row, strip));
    if (!plain) return false;
    pixels.WriteRows(strip, row);
    if (stop.Asked(int64_t{work.frame.mcu_height()} * work.frame.width))
      return DecodingStopped(name);
  }
  // As libjpeg, which notices at the end of the last row that a file was cut short.
  if (region.y + region.height == plan.geometry.height) {
    STOKER_RETURN_IF_ERROR(CheckEnd(work, plan));
  }
  return true;
}

}  // namespace

Result<bool> DecodeBaselineJpeg(const EncodedImage& image, const ImageInfo& info,
                                const ImageRegion& region, const PixelRows& out,
                                DecodeScratch& scratch) {
  auto& work = *new (scratch.Take(sizeof(Workspace))) Workspace;
  STOKER_ASSIGN_OR_RETURN(const bool ours, ParseFrame(image.bytes, image.name, work.frame));
  if (!ours) return false;
  if (work.frame.width != info.stored_width() || work.frame.height != info.stored_height()) {
    return false;
  }
  const RegionPlan plan = PlanRegion(work.frame, region, info.channels);
  STOKER_RETURN_IF_ERROR(work.decoder.Start(work.frame, image.bytes, image.name, plan.OnlyDc()));
  return DecodeRegion(image.name, work, plan, info, region, out, scratch);
}

}  // namespace stoker
