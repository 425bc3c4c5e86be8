#!/bin/sh
# Start areopage. A variable PGPASSWORD_FILE, or NAME_API_KEY_FILE, names a file whose content becomes PGPASSWORD, or NAME_API_KEY.
set -eu
for name in $(env | sed -n 's/^\(PGPASSWORD\|[A-Z][A-Z0-9_]*_API_KEY\)_FILE=.*/\1/p'); do
  file=$(printenv "${name}_FILE")
  if [ ! -r "$file" ]; then
    echo "areopage: ${name}_FILE names $file, which user $(id -u) cannot read" >&2
    exit 2
  fi
  export "$name=$(cat "$file")"
done
exec areopage "$@"
