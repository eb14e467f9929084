// Credentials and endpoint for S3-compatible stores, from the environment and the files of ~/.aws,
// as Amazon's own programs find them.
//
// Credentials, the first that are there: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN (unless a profile is named in the settings); the profile in the file of
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); the one in the file of AWS_CONFIG_FILE
// (~/.aws/config). Profiles that ask other programs or services (sso_, role_arn,
// credential_process) are not supported: `aws configure export-credentials --format env` converts
// them to variables.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/sigv4.h"

namespace stoker {

// Finds credentials, anew at each call. Errors: kPermissionDenied if there are none; the message
// names the places searched, and no secret.
Result<AwsCredentials> FindAwsCredentials(const RemoteOptions& options);

// Both from the files, read once; empty if not set.
struct AwsPlace {
  std::string endpoint, region;
};
AwsPlace FindAwsPlace(const RemoteOptions& options);

}  // namespace stoker
