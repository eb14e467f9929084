// Manual pages, made from what --help is made from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/tools/program/command_table.h"

namespace stoker {

// "stoker.1", "stoker-train.1".
std::string ManPageName(const CommandEntry& program, const CommandEntry& command);

// The page of `command`, which is `program` itself or one of its commands, in the macros of man(7).
std::string ManPage(const CommandEntry& program, const CommandEntry& command);

}  // namespace stoker
