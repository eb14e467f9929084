#include "stoker/io/remote/aws_settings.h"

#include <initializer_list>
#include <string_view>

#include "stoker/io/file.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/ini_file.h"

namespace stoker {
namespace {

constexpr uint64_t kMostSettingsBytes = 1 << 20;

using internal::Variable;

std::string FirstOf(std::initializer_list<std::string> values) {
  for (const std::string& value : values) {
    if (!value.empty()) return value;
  }
  return "";
}

std::string ProfileName(const RemoteOptions& options) {
  return FirstOf({options.profile, Variable("AWS_PROFILE"), "default"});
}

std::string PathOf(const char* variable, std::string_view name) {
  const std::string named = Variable(variable);
  return named.empty() ? fmt::format("{}/.aws/{}", Variable("HOME"), name) : named;
}
std::string CredentialsPath() { return PathOf("AWS_SHARED_CREDENTIALS_FILE", "credentials"); }
std::string ConfigPath() { return PathOf("AWS_CONFIG_FILE", "config"); }

// Reads a profile of a file that need not exist.
IniSection ReadProfile(const std::string& path, const std::string& profile) {
  const Result<std::string> text = ReadTextFile(path, kMostSettingsBytes);
  if (!text.ok()) return {};
  const auto sections = ParseIni(*text);
  const auto found = sections.find(profile);
  return found == sections.end() ? IniSection() : found->second;
}

std::string ValueOf(const IniSection& section, std::string_view key) {
  const auto found = section.find(key);
  return found == section.end() ? "" : found->second;
}

Status NoCredentials(const std::string& profile, const IniSection& config) {
  for (const auto& [key, value] : config) {
    if (!key.starts_with("sso_") && key != "role_arn" && key != "credential_process") continue;
    return PermissionDenied(
        "no credentials for S3: the profile '{}' in {} gets them by {}, which Stoker does not "
        "follow; make variables of them: eval \"$(aws configure export-credentials --profile {} "
        "--format env)\"",
        profile, ConfigPath(), key, profile);
  }
  return PermissionDenied(
      "no credentials for S3: looked for AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
      "environment, and for the profile '{}' in {} and {}; set them, or read what is public with "
      "anonymous: true (data.remote)",
      profile, CredentialsPath(), ConfigPath());
}

}  // namespace

Result<AwsCredentials> FindAwsCredentials(const RemoteOptions& options) {
  AwsCredentials found{Variable("AWS_ACCESS_KEY_ID"), Variable("AWS_SECRET_ACCESS_KEY"),
                       Variable("AWS_SESSION_TOKEN")};
  const bool in_environment = !found.access_key_id.empty() && !found.secret_access_key.empty();
  if (options.profile.empty() && in_environment) return found;
  const std::string profile = ProfileName(options);
  const IniSection config = ReadProfile(ConfigPath(), profile);
  for (const IniSection& section : {ReadProfile(CredentialsPath(), profile), config}) {
    found = {ValueOf(section, "aws_access_key_id"), ValueOf(section, "aws_secret_access_key"),
             ValueOf(section, "aws_session_token")};
    if (!found.access_key_id.empty() && !found.secret_access_key.empty()) return found;
  }
  return NoCredentials(profile, config);
}

AwsPlace FindAwsPlace(const RemoteOptions& options) {
  const std::string profile = ProfileName(options);
  const IniSection config = ReadProfile(ConfigPath(), profile);
  return {FirstOf({options.endpoint, Variable("AWS_ENDPOINT_URL_S3"), Variable("AWS_ENDPOINT_URL"),
                   ValueOf(config, "s3.endpoint_url"), ValueOf(config, "endpoint_url")}),
          FirstOf({options.region, Variable("AWS_REGION"), Variable("AWS_DEFAULT_REGION"),
                   ValueOf(config, "region")})};
}

}  // namespace stoker
