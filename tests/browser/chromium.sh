#!/bin/sh
# Install Debian's Chromium unless there is a browser already.
set -eu
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
fail() {
  echo "make test-browser needs Chromium, and $1; install it so that 'chromium' is on the PATH." >&2
  exit 1
}
command -v apt-get >/dev/null || fail "there is no apt-get to install it with"
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "installing it takes root or sudo"
  as_root="sudo"
fi
$as_root apt-get install -y --no-install-recommends chromium || {
  $as_root apt-get update && $as_root apt-get install -y --no-install-recommends chromium
} || fail "apt-get could not install it"
