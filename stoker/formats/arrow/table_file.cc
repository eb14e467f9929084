#include "stoker/formats/arrow/table_file.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>

#include "stoker/base/default_budget.h"
#include "stoker/base/mutex.h"
#include "stoker/base/plugin.h"
#include "stoker/formats/arrow/arrow_plugin.h"
#include "stoker/formats/arrow/table_support.h"
#include "stoker/io/file_bytes.h"

// The name that the plug-in asks the dynamic linker for; StokerPlugins.cmake sets it.
#ifndef STOKER_ARROW_LIBRARY
#define STOKER_ARROW_LIBRARY ""
#endif

namespace stoker {
namespace {

class FileInput final : public TableInput {
 public:
  explicit FileInput(FileBytes file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_.name(); }
  uint64_t size() const override { return file_.size(); }
  const std::byte* present() const override {
    return file_.present() ? file_.bytes().data() : nullptr;
  }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    return file_.ReadAt(offset, out);
  }

 private:
  const FileBytes file_;
};

std::vector<std::string> LoadedLibraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, size_t, void* all) {
    static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

Status LoadPlugin(OpenTableFunction*& open) {
  STOKER_RETURN_IF_ERROR(CheckNoOtherArrow(LoadedLibraries(), STOKER_ARROW_LIBRARY));
  STOKER_ASSIGN_OR_RETURN(
      const Plugin plugin,
      Plugin::Load({.file = kArrowPluginFile,
                    .tag_function = kArrowPluginTagName,
                    .tag = STOKER_PLUGIN_TAG,
                    .when_missing =
                        "it reads Parquet and Arrow files, and is built where Apache Arrow is: "
                        "`./dev setup`, then `./dev build`"}));
  return plugin.Find(kOpenTableName, open);
}

// What a footer becomes is memory of Arrow's that no pool sees, so its size is looked at before it
// is read. A file that is damaged, cut short or encrypted is for Arrow to judge.
Status CheckRoomForFooter(const FileBytes& file) {
  std::array<std::byte, 8> end;  // the footer's size, 32 bits, and PAR1
  if (file.size() < end.size()) return OkStatus();
  STOKER_RETURN_IF_ERROR(file.ReadAt(file.size() - end.size(), end));
  uint32_t footer = 0;
  std::memcpy(&footer, end.data(), sizeof(footer));
  if (std::memcmp(end.data() + sizeof(footer), "PAR1", 4) != 0) return OkStatus();
  const uint64_t takes = footer * kParquetFooterGrowth;
  const auto budget = static_cast<uint64_t>(DefaultBudget());
  if (footer > file.size() || takes <= std::max(budget, kSmallDescriptions)) return OkStatus();
  return ResourceExhausted(
      "{}: its description of columns and row groups has {:.1f} MB and takes about {:.1f} MB in "
      "memory, of a budget of {:.1f} MB; {}, or write the file with more rows in each row group",
      file.name(), static_cast<double>(footer) * 1e-6, static_cast<double>(takes) * 1e-6,
      static_cast<double>(budget) * 1e-6, HowToRaiseTheBudget());
}

// A failure is not remembered: what was missing may be there the next time.
Status FindOpenTable(OpenTableFunction*& open) {
  static Mutex loading;
  static OpenTableFunction* loaded = nullptr;
  const MutexLock lock(loading);
  if (loaded == nullptr) STOKER_RETURN_IF_ERROR(LoadPlugin(loaded));
  open = loaded;
  return OkStatus();
}

}  // namespace

Result<std::string> ArrowLibrary() {
  OpenTableFunction* open = nullptr;
  STOKER_RETURN_IF_ERROR(FindOpenTable(open));
  return std::string(STOKER_ARROW_LIBRARY);
}

Status CheckNoOtherArrow(std::span<const std::string> loaded, std::string_view ours) {
  constexpr std::string_view kArrow = "libarrow.so.";
  if (ours.empty()) return OkStatus();
  for (const std::string& path : loaded) {
    const std::string name = std::filesystem::path(path).filename().string();
    // 2600 and 2600.1.0 are one library.
    const bool same = name == ours || name.starts_with(std::string(ours) + ".");
    if (!name.starts_with(kArrow) || same) continue;
    return Unavailable(
        "this process has {} loaded, and Stoker reads Parquet and Arrow files by {}: two versions "
        "of Arrow do not go together in one process; use the pyarrow that Stoker was built with",
        path, ours);
  }
  return OkStatus();
}

Result<std::shared_ptr<const TableFile>> OpenTableFile(TableFormat format,
                                                       const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(FileBytes file, FileBytes::Open(path));
  if (format == TableFormat::kParquet) STOKER_RETURN_IF_ERROR(CheckRoomForFooter(file));
  OpenTableFunction* open = nullptr;
  const Status found = FindOpenTable(open);
  if (!found.ok()) return Status(found.code(), fmt::format("{}: {}", path, found.message()));
  Result<std::shared_ptr<const TableFile>> opened = Internal("{}: nothing was opened", path);
  open(format, std::make_shared<FileInput>(std::move(file)), &opened);
  return opened;
}

}  // namespace stoker
