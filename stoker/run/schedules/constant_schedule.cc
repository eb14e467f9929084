#include "stoker/run/schedules/constant_schedule.h"

namespace stoker {
namespace {

class Constant final : public Schedule {
 public:
  explicit Constant(double lr) : lr_(lr) {}
  ScheduleValue At(int64_t) const override { return {.lr = lr_, .momentum = {}}; }

 private:
  const double lr_;
};

}  // namespace

void ConstantSchedule::Describe(OptionTable<ConstantSchedule>& table) {
  table.Field("lr", &ConstantSchedule::lr, "learning rate", MoreThan(0));
}

Result<std::unique_ptr<Schedule>> ConstantSchedule::Build(const SchedulePlan&) const {
  return std::make_unique<Constant>(lr);
}

}  // namespace stoker
