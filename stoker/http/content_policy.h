// The header Content-Security-Policy of pages that hold all they need in themselves.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Returns the source expression that allows this text of a <style> or <script> alone:
// "'sha256-...'" (https://www.w3.org/TR/CSP3/).
std::string HashSource(std::string_view text);

// Returns a policy under which a page runs this style and this script, asks its own server, and
// does nothing else.
//   script  may be empty: none
std::string SelfContainedPolicy(std::string_view style, std::string_view script);

}  // namespace stoker
