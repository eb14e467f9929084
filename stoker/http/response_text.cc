#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "stoker/http/response_text_internal.h"

namespace stoker {
namespace {

bool IsOnOneLine(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

bool Has(const HttpResponse& response, std::string_view name) {
  return std::ranges::any_of(response.headers,
                             [&](const auto& header) { return header.first == name; });
}

}  // namespace

std::string HeadText(const HttpResponse& response, const ResponseForm& form) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\nServer: stoker\r\n",
                  response.status, HttpReason(response.status), fmt::gmtime(std::time(nullptr)));
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!name.empty() && IsOnOneLine(name) && IsOnOneLine(value))
      text += fmt::format("{}: {}\r\n", name, value);
  };
  add("Content-Type", response.content_type);
  if (form.length)
    add("Content-Length", std::to_string(*form.length));
  else if (form.chunked)
    add("Transfer-Encoding", "chunked");
  add("Connection", form.keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) add(name, value);
  constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"}};
  for (const auto& [name, value] : kUsual) {
    if (!Has(response, name)) add(name, value);
  }
  return text + "\r\n";
}

std::string ChunkText(std::string_view piece) {
  return piece.empty() ? std::string() : fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

}  // namespace stoker
