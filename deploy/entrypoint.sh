#!/bin/sh
# Secrets come as files: for every NAME_FILE of the list, NAME is what that file holds. Then the command takes over.
set -eu

for name in PGPASSWORD PLAIT_DB PLAIT_SECRET; do
    eval "file=\${${name}_FILE:-}"
    if [ -n "$file" ]; then
        if [ ! -r "$file" ]; then
            echo "plait: ${name}_FILE names $file, which can't be read" >&2
            exit 78
        fi
        value=$(cat "$file")
        export "$name=$value"
        unset "${name}_FILE"
    fi
done

exec "$@"
